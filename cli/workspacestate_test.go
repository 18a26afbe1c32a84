package cli

import (
	"strings"
	"testing"
)

func TestWorkspaceStateMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"workspace start":                               "accepts 1 arg(s)",
		"workspace start ann bob":                       "accepts 1 arg(s)",
		"workspace stop ann -o yaml":                    "--output: must be one of text, json",
		"workspace stop ann --wait --no-wait":           "wait",
		"workspace archive ann --timeout -1s":           "--timeout: must not be negative, not -1s",
		"workspace archive ann --timeout soon":          "--timeout",
		"workspace start ann --kubeconfig nowhere":      "nowhere",
		"workspace open ann --port 65536":               "--port: must be from 0 to 65535, not 65536",
		"workspace open ann --local-port -1":            "--local-port: must be from 0 to 65535, not -1",
		"workspace open ann --print --kubeconfig where": "where",
	} {
		if stdout, stderr, code := kyklos(t, "", strings.Fields(line)...); stdout != "" || !strings.Contains(stderr, want) || code != 2 {
			t.Errorf("%s: exit %d\n%s\n%s", line, code, stdout, stderr)
		}
	}
}
