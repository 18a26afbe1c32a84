package desk_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/test/docs/desk"
	"kyklos.io/kyklos/test/harness"
)

var (
	root  string
	stage *desk.Stage
)

func TestMain(m *testing.M) { harness.RunTests(m, prepare) }

func prepare(ctx context.Context, s *harness.Suite) (err error) {
	for _, name := range []string{"kyklos", "kubectl-kyklos", "kubectl"} {
		if _, err := harness.Binary(name); err != nil {
			return err
		}
	}
	if root, err = harness.Root(); err != nil {
		return err
	}
	stage, err = desk.NewStage(ctx, root, s.Dir)
	return err
}

// What the documentation shows happens. Blocks that need a cluster are run by test/docs, which has one.
func TestDocumentedCommands(t *testing.T) {
	blocks, err := desk.All(root)
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, block := range blocks {
		if block.Cluster {
			continue
		}
		ran[filepath.Dir(block.Page)]++
		t.Run(block.Name(), func(t *testing.T) {
			if err := stage.Run(t.Context(), block); err != nil {
				t.Error(err)
			}
		})
	}
	if ran["docs"] == 0 || ran["docs/cli"] == 0 {
		t.Errorf("blocks by folder: %v", ran)
	}
}

// The real kubectl finds the plugin, hands its arguments on, and has them completed.
func TestPluginOfKubectl(t *testing.T) {
	sample := "config/samples/v1alpha1/office-hours.yaml"
	for command, shown := range map[string]string{
		"kubectl plugin list --name-only":                                          "...\nkubectl-kyklos\n...",
		"kubectl kyklos convert --help | grep -A1 ^Usage":                          "Usage:\n  kubectl kyklos convert [-f FILE|DIR|-]... [FILE|DIR]... --to VERSION [flags]",
		"kubectl kyklos convert -f " + sample + " --to v1alpha1 | cmp - " + sample: "",
		`kubectl __complete kyklos convert --to "" 2>/dev/null`:                    "v1alpha1\nv1beta1\n:4",
		`kubectl __complete kyklos conv 2>/dev/null | head -1 | cut -c1-8`:         "convert\t",
		"kubectl kyklos convrt 2>&1 | head -1":                                     `kyklos: unknown command "convrt" for "kubectl kyklos"`,
	} {
		step := desk.Step{Command: command, Shown: []string{}}
		if shown != "" {
			step.Shown = strings.Split(shown, "\n")
		}
		if err := stage.Run(t.Context(), desk.Block{Steps: []desk.Step{step}}); err != nil {
			t.Error(err)
		}
	}
}

// A block that shows something else than happens is found out.
func TestDifferencesAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		step desk.Step
		want bool
	}{
		"the same":        {desk.Step{Command: "echo a; echo b >&2", Shown: []string{"a", "b"}}, true},
		"left out":        {desk.Step{Command: "seq 5", Shown: []string{"1", "...", "5", "..."}}, true},
		"a line too much": {desk.Step{Command: "seq 2", Shown: []string{"1", "2", "3"}}, false},
		"a line missing":  {desk.Step{Command: "seq 3", Shown: []string{"1", "3"}}, false},
		"another end":     {desk.Step{Command: "seq 3", Shown: []string{"...", "2"}}, false},
		"nothing shown":   {desk.Step{Command: "echo a", Shown: []string{}}, false},
		"not compared":    {desk.Step{Command: "echo a"}, true},
		"its exit code":   {desk.Step{Command: "exit 3", Exit: 3}, true},
		"another one":     {desk.Step{Command: "exit 3", Exit: 1}, false},
		"a file":          {desk.Step{Command: "git status --short; git log --format=%s; ls config/samples/holidays.yaml", Shown: []string{"What there was", "config/samples/holidays.yaml"}}, true},
	} {
		if err := stage.Run(t.Context(), desk.Block{Steps: []desk.Step{test.step}}); (err == nil) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The form that doc.go describes is read so.
func TestBlocksAreRead(t *testing.T) {
	blocks, err := desk.All("testdata/form")
	if err != nil {
		t.Fatal(err)
	}
	want := []desk.Block{
		{Page: "docs/page.md", Line: 3, Steps: []desk.Step{
			{Command: "kyklos lint \\\n  -f a.yaml", Shown: []string{"one", "...", ""}, Exit: 1}, {Command: "cat b", Shown: []string{}},
		}},
		{Page: "docs/page.md", Line: 19, Cluster: true, Steps: []desk.Step{{Command: "kubectl get tws | kyklos convert -f - <<EOF\na\nEOF", Shown: []string{"x"}}}},
		{Page: "docs/cli/kyklos_a.md", Line: 9, Steps: []desk.Step{{Command: "kyklos a -f x"}}},
		{Page: "docs/cli/kyklos_a.md", Line: 12, Cluster: true, Steps: []desk.Step{{Command: "cat x | kyklos a", Exit: 2}}},
	}
	if diff := cmp.Diff(want, blocks); diff != "" {
		t.Error(diff)
	}
	if _, err := desk.All("testdata/broken"); err == nil || !strings.Contains(err.Error(), "docs/page.md:1: a block begins with a command") {
		t.Errorf("a block without a command: %v", err)
	}
}

// Ctrl-C ends a command that waits for standard input.
func TestInterrupted(t *testing.T) {
	program, err := harness.Binary("kyklos")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"lint", "-f", "-"}, {"preview", "-f", "-"}, {"convert", "--to", "v1beta1", "-"}, {"diff", "-", root}} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, program, args...)
		stdin, err := command.StdinPipe()
		if err == nil {
			err = command.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		// More than a pipe holds: once it is written, the command reads.
		if _, err := stdin.Write(bytes.Repeat([]byte("# nothing\n"), 1<<16)); err != nil {
			t.Fatal(err)
		}
		if err := command.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := command.Wait(); err == nil || err.Error() != "signal: interrupt" {
			t.Errorf("kyklos %s: %v", strings.Join(args, " "), err)
		}
	}
}
