package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

// completed returns the completions of a line for the scripts of all shells: the values without their descriptions, and last
// what the shell may add to them.
func completed(t *testing.T, line ...string) []string {
	t.Helper()
	stdout, stderr, code := kyklos(t, "", append([]string{cobra.ShellCompRequestCmd}, line...)...)
	if code != 0 {
		t.Fatal(line, stderr)
	}
	var values []string
	for text := range strings.Lines(stdout) {
		value, _, _ := strings.Cut(strings.TrimSpace(text), "\t")
		values = append(values, value)
	}
	return values
}

// What the shell may add: names of files, or nothing.
const filesToo, nothingElse = ":0", ":4"

func TestCompletion(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	const holidays = "../config/samples/holidays.yaml"
	for line, want := range map[string][]string{
		"ex":                             {"explain", nothingElse},
		"preview --ho":                   {"--holidays", nothingElse},
		"lint --warn":                    {"--warnings-as-errors", nothingElse},
		"lint -f ":                       {filesToo},
		"lint --filename ":               {filesToo},
		"lint ":                          {filesToo},
		"convert -f ":                    {filesToo},
		"diff main -- ":                  {filesToo},
		"preview --holidays ":            {filesToo},
		"convert --to ":                  {"v1alpha1", "v1beta1", nothingElse},
		"preview -o ":                    {"table", "json", "svg", "html", "png", "ics", nothingElse},
		"diff --output ":                 {"text", "markdown", "json", nothingElse},
		"explain -o ":                    {"text", "json", nothingElse},
		"lint -o ":                       {"text", "json", "junit", "sarif", "github", nothingElse},
		"version -o ":                    {"text", "json", nothingElse},
		"preview -f " + holidays + " ":   {"back-office-weekdays", nothingElse},
		"explain -f " + holidays + " b":  {"back-office-weekdays", nothingElse},
		"explain -f " + holidays + " x":  {nothingElse},
		"explain -f nowhere.yaml ":       {nothingElse},
		"explain ":                       {nothingElse}, // no cluster
		"preview --kubeconfig nowhere b": {nothingElse},
	} {
		if diff := cmp.Diff(want, completed(t, strings.Split(line, " ")...)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", line, diff)
		}
	}
}

// Every flag that takes one of a few values completes them.
func TestEveryOutputIsCompleted(t *testing.T) {
	for _, cmd := range newCommand().Commands() {
		if cmd.Flags().Lookup("output") == nil {
			continue
		}
		if values := completed(t, cmd.Name(), "--output", ""); len(values) < 3 || !slices.Contains(values, "json") || values[len(values)-1] != nothingElse {
			t.Errorf("%s: %q", cmd.Name(), values)
		}
	}
}

// Names are completed from the files of the command line, each once.
func TestCompleteScalers(t *testing.T) {
	cmd := &cobra.Command{Use: "preview"}
	cmd.Flags().StringArrayP("filename", "f", nil, "")
	if err := cmd.ParseFlags([]string{"-f", "../config/samples", "-f", "-", "-f", "../config/samples/office-hours.yaml"}); err != nil {
		t.Fatal(err)
	}
	names, directive := completeScalers(cmd, []string{"web"}, "webapp-o")
	if diff := cmp.Diff([]string{"webapp-office-hours"}, names); diff != "" || directive != cobra.ShellCompDirectiveNoFileComp {
		t.Error(directive, diff)
	}
	if names, _ := completeScalers(cmd, []string{"webapp-office-hours"}, "webapp-o"); len(names) > 0 {
		t.Errorf("twice: %q", names)
	}
}
