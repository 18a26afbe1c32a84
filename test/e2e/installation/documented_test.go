package installation

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// documented does what docs/permissions.md tells for a manager that serves some namespaces: it installs
// from a copy of config, and adds a namespace to the copy.
func (s *site) documented(t *testing.T) {
	root, err := harness.Root()
	s.must(err)
	page, err := os.ReadFile(filepath.Join(root, "docs", "permissions.md"))
	s.must(err)
	shown := regexp.MustCompile(`(?m)^\$ (.*)$`).FindAllStringSubmatch(string(page), -1)
	if len(shown) != 6 {
		t.Fatalf("the page shows %d commands", len(shown))
	}
	scratch := t.TempDir()
	s.must(os.CopyFS(filepath.Join(scratch, "config"), os.DirFS(filepath.Join(root, "config"))))
	for _, command := range shown {
		if args, ok := strings.CutPrefix(command[1], "kubectl "); ok {
			s.kubectl("", strings.Fields(strings.ReplaceAll(args, " config/", " "+scratch+"/config/"))...)
			continue
		}
		shell := exec.CommandContext(t.Context(), "sh", "-c", command[1])
		shell.Dir = scratch
		if output, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command[1], err, output)
		}
	}
	rendered, _ := s.kubectl("", "kustomize", filepath.Join(scratch, "config", harness.Namespaced))
	bound := regexp.MustCompile(`kind: RoleBinding\nmetadata:\n(?:  .*\n)+?  name: kyklos-manager-served\n  namespace: (\w+)\n`)
	if found := bound.FindAllStringSubmatch(rendered, -1); len(found) != 2 || found[0][1] != "lab" || found[1][1] != "shop" ||
		!strings.Contains(rendered, "- --namespaces=shop,lab\n") {
		t.Errorf("another namespace is not served as well: %q in\n%s", found, rendered)
	}
}
