package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// runPermissionsPage runs the commands of docs/permissions.md for a manager that serves some namespaces, in a copy of
// config.
func (s *scenario) runPermissionsPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(s.root, "docs", "permissions.md"))
	s.Must(err)
	shown := regexp.MustCompile(`(?m)^\$ (.*)$`).FindAllStringSubmatch(string(page), -1)
	if len(shown) != 6 {
		t.Fatalf("got %d commands on the page, want 6", len(shown))
	}
	scratch := t.TempDir()
	s.Must(os.CopyFS(filepath.Join(scratch, "config"), os.DirFS(filepath.Join(s.root, "config"))))
	for _, command := range shown {
		if args, ok := strings.CutPrefix(command[1], "kubectl "); ok {
			s.Kubectl("", strings.Fields(strings.ReplaceAll(args, " config/", " "+scratch+"/config/"))...)
			continue
		}
		shell := exec.CommandContext(t.Context(), "sh", "-c", command[1])
		shell.Dir = scratch
		if output, err := shell.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", command[1], err, output)
		}
	}
	rendered, _ := s.Kubectl("", "kustomize", filepath.Join(scratch, "config", harness.Namespaced))
	bound := regexp.MustCompile(`kind: RoleBinding\nmetadata:\n(?:  .*\n)+?  name: kyklos-manager-served\n  namespace: (\w+)\n`)
	if found := bound.FindAllStringSubmatch(rendered, -1); len(found) != 2 || found[0][1] != "lab" || found[1][1] != "shop" ||
		!strings.Contains(rendered, "- --namespaces=shop,lab\n") {
		t.Errorf("the second namespace is not served: %q in\n%s", found, rendered)
	}
}
