package docs

import (
	"regexp"
	"testing"
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
