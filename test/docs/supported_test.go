package docs

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// All places name the same oldest Kubernetes: the oldest one that make test-versions tests.
func TestOldestKubernetes(t *testing.T) {
	tested := regexp.MustCompile(`(?m)^OLDER_KUBERNETES := (\d+\.\d+)`).FindStringSubmatch(readText(t, "Makefile"))
	if tested == nil {
		t.Fatal("the Makefile has no OLDER_KUBERNETES")
	}
	for path, pattern := range map[string]string{
		"README.md":               `needs Kubernetes (\d+\.\d+) or later`,
		"docs/install.md":         `needs Kubernetes (\d+\.\d+) or later`,
		"docs/lint.md":            `every Kubernetes from (\d+\.\d+) on`,
		"config/chart/Chart.yaml": `kubeVersion: ">=(\d+\.\d+)\.0-0"`,
	} {
		claimed := regexp.MustCompile(pattern).FindStringSubmatch(readText(t, path))
		if claimed == nil || claimed[1] != tested[1] {
			t.Errorf("%s: got %q, want Kubernetes %s as in the Makefile", path, claimed, tested[1])
		}
	}
}

// The page on installation lists the versions that are tested, the newest first: that of the devcluster, and those whose API
// servers make test-versions builds.
func TestTestedVersions(t *testing.T) {
	makefile := readText(t, "Makefile")
	newest := regexp.MustCompile(`(?m)^KUBERNETES_VERSION := v((\d+\.\d+)\.\d+)$`).FindStringSubmatch(makefile)
	older := regexp.MustCompile(`(?m)^OLDER_KUBERNETES := (.*)$`).FindStringSubmatch(makefile)
	if newest == nil || older == nil {
		t.Fatal("the Makefile has no KUBERNETES_VERSION or no OLDER_KUBERNETES")
	}
	if messages := regexp.MustCompile(`messages are those of\s+Kubernetes (\d+\.\d+)`).FindStringSubmatch(readText(t, "docs/lint.md")); messages == nil || messages[1] != newest[2] {
		t.Errorf("docs/lint.md: got %q, want the messages of Kubernetes %s", messages, newest[2])
	}
	tested := [][]string{{"`" + newest[2] + "`", newest[1]}}
	for _, minor := range slices.Backward(strings.Fields(older[1])) {
		module := regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes v(\S+)`).FindStringSubmatch(readText(t, "test/platform/versions/v"+minor+"/go.mod"))
		if module == nil || !strings.HasPrefix(module[1], minor+".") {
			t.Fatalf("test/platform/versions/v%s builds Kubernetes %q", minor, module)
		}
		tested = append(tested, []string{"`" + minor + "`", module[1]})
	}
	var listed [][]string
	for _, row := range tableRows(t, "install.md", "## Kubernetes versions") {
		listed = append(listed, row[:2])
	}
	if diff := cmp.Diff(tested, listed); diff != "" {
		t.Errorf("docs/install.md (-tested +listed)\n%s", diff)
	}
}
