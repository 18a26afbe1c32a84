package docs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/test/harness"
)

// Each command prints what the documentation shows. TestSamplesOnAnAPIServer runs the blocks that need a cluster.
func TestDocumentedCommands(t *testing.T) {
	ran := runBlocks(t, offline, false)
	if ran["docs"] == 0 || ran["docs/cli"] == 0 {
		t.Errorf("got blocks by folder %v, want some of docs and docs/cli", ran)
	}
}

// runBlocks runs the blocks that need a cluster, or those that need none, and counts them by folder.
func runBlocks(t *testing.T, in *sandbox, needsCluster bool) map[string]int {
	t.Helper()
	blocks, err := readBlocks(root)
	harness.Must(t, err)
	ran := map[string]int{}
	for _, b := range blocks {
		if b.needsCluster != needsCluster {
			continue
		}
		ran[filepath.Dir(b.Page)]++
		t.Run(b.Name(), func(t *testing.T) {
			if err := in.run(t.Context(), b.Commands...); err != nil {
				t.Error(err)
			}
		})
	}
	return ran
}

// clusterCommands runs the blocks that need a cluster.
func clusterCommands(t *testing.T, cluster *harness.Cluster) {
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	content, err := os.ReadFile(cluster.Kubeconfig)
	harness.Must(t, errors.Join(err, os.WriteFile(kubeconfig, content, 0o600)))
	kube := harness.NewT(t, cluster)
	for _, args := range [][]string{
		{"create", "namespace", "desk"},
		{"config", "set-context", "--current", "--namespace", "desk", "--kubeconfig", kubeconfig},
		{"apply", "-n", "desk", "-f", filepath.Join(samplesDir, "office-hours.yaml")},
		{"wait", "-n", "desk", "tws/webapp-office-hours", "--for", "condition=Ready", "--timeout", patience.String()},
	} {
		kube.Kubectl("", args...)
	}
	in, err := newSandbox(t.Context(), t.TempDir(), "KUBECONFIG="+kubeconfig)
	harness.Must(t, err)
	runBlocks(t, in, true)
}

// The real kubectl finds the plugin, passes its arguments on, and completes them.
func TestKubectlPlugin(t *testing.T) {
	sample := "config/samples/v1alpha1/office-hours.yaml"
	for command, shown := range map[string]string{
		"kubectl plugin list --name-only":                                          "...\nkubectl-kyklos\n...",
		"kubectl kyklos convert --help | grep -A1 ^Usage":                          "Usage:\n  kubectl kyklos convert [-f FILE|DIR|-]... [FILE|DIR]... --to VERSION [flags]",
		"kubectl kyklos convert -f " + sample + " --to v1alpha1 | cmp - " + sample: "",
		`kubectl __complete kyklos convert --to "" 2>/dev/null`:                    "v1alpha1\nv1beta1\n:4",
		`kubectl __complete kyklos conv 2>/dev/null | head -1 | cut -c1-8`:         "convert\t",
		"kubectl kyklos convrt 2>&1 | head -1":                                     `kyklos: unknown command "convrt" for "kubectl kyklos"`,
	} {
		lines := []string{}
		if shown != "" {
			lines = strings.Split(shown, "\n")
		}
		if err := offline.run(t.Context(), harness.Command{Text: command, Shown: lines}); err != nil {
			t.Error(err)
		}
	}
}

// The sandbox finds each kind of difference.
func TestDifferencesAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		command harness.Command
		want    bool
	}{
		"the same":        {harness.Command{Text: "echo a; echo b >&2", Shown: []string{"a", "b"}}, true},
		"left out":        {harness.Command{Text: "seq 5", Shown: []string{"1", "...", "5", "..."}}, true},
		"a line too many": {harness.Command{Text: "seq 2", Shown: []string{"1", "2", "3"}}, false},
		"a line missing":  {harness.Command{Text: "seq 3", Shown: []string{"1", "3"}}, false},
		"another end":     {harness.Command{Text: "seq 3", Shown: []string{"...", "2"}}, false},
		"nothing shown":   {harness.Command{Text: "echo a", Shown: []string{}}, false},
		"not compared":    {harness.Command{Text: "echo a"}, true},
		"its exit code":   {harness.Command{Text: "exit 3", Exit: 3}, true},
		"another one":     {harness.Command{Text: "exit 3", Exit: 1}, false},
		"a file":          {harness.Command{Text: "git status --short; git log --format=%s; ls config/samples/holidays.yaml", Shown: []string{"What there was", "config/samples/holidays.yaml"}}, true},
	} {
		if err := offline.run(t.Context(), test.command); (err == nil) != test.want {
			t.Errorf("%s: got %v, want no difference: %t", name, err, test.want)
		}
	}
}

// The form that the package's comment describes.
func TestReadBlocks(t *testing.T) {
	blocks, err := readBlocks("testdata/form")
	harness.Must(t, err)
	const needs = "<!-- needs a cluster -->"
	want := []block{
		{harness.Block{Page: "docs/page.md", Line: 3, Marker: "# A page", Commands: []harness.Command{
			{Text: "kyklos lint \\\n  -f a.yaml", Shown: []string{"one", "...", ""}, Exit: 1}, {Text: "cat b", Shown: []string{}},
		}}, false},
		{harness.Block{Page: "docs/page.md", Line: 19, Marker: needs, Commands: []harness.Command{
			{Text: "kubectl get tws | kyklos convert -f - <<EOF\na\nEOF", Shown: []string{"x"}},
		}}, true},
		{harness.Block{Page: "docs/cli/kyklos_a.md", Line: 9, Marker: "# One", Commands: []harness.Command{{Text: "kyklos a -f x"}}}, false},
		{harness.Block{Page: "docs/cli/kyklos_a.md", Line: 12, Marker: "# In a cluster, exit 2: no file", Commands: []harness.Command{
			{Text: "cat x | kyklos a", Exit: 2},
		}}, true},
	}
	if diff := cmp.Diff(want, blocks, cmp.AllowUnexported(block{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if _, err := readBlocks("testdata/broken"); err == nil || !strings.Contains(err.Error(), "docs/page.md:1: a block begins with a command") {
		t.Errorf("a block without a command: %v", err)
	}
}

// Ctrl-C ends a command that reads standard input.
func TestInterrupt(t *testing.T) {
	program, err := harness.Binary("kyklos")
	harness.Must(t, err)
	for _, args := range [][]string{{"lint", "-f", "-"}, {"preview", "-f", "-"}, {"convert", "--to", "v1beta1", "-"}, {"diff", "-", root}} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, program, args...)
		stdin, err := command.StdinPipe()
		harness.Must(t, err)
		harness.Must(t, command.Start())
		// More than a pipe holds: when it is written, the command is reading.
		_, err = stdin.Write(bytes.Repeat([]byte("# nothing\n"), 1<<16))
		harness.Must(t, err)
		harness.Must(t, command.Process.Signal(os.Interrupt))
		if err := command.Wait(); err == nil || err.Error() != "signal: interrupt" {
			t.Errorf("kyklos %s: %v", strings.Join(args, " "), err)
		}
	}
}
