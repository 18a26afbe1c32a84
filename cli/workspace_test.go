package cli

import (
	"strings"
	"testing"
)

func TestWorkspaceArchivesMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"workspace archives":                              "accepts 1 arg(s)",
		"workspace archives ann -o yaml":                  "--output: must be one of table, json",
		"workspace archives ann --kubeconfig nowhere":     "nowhere",
		"workspace archives ann bob --kubeconfig nowhere": "accepts 1 arg(s)",
	} {
		if stdout, stderr, code := kyklos(t, "", strings.Fields(line)...); stdout != "" || !strings.Contains(stderr, want) || code != 2 {
			t.Errorf("%s: exit %d\n%s\n%s", line, code, stdout, stderr)
		}
	}
}
