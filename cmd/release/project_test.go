package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// decode reads YAML in which every field is known.
func decode(t *testing.T, path string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(read(t, filepath.Join(root, path))), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// step is one of a workflow or a composite action.
type step struct {
	Name, Uses, Run, Shell, If string
	With, Env                  map[string]string
}

type workflow struct {
	Name        string
	On          map[string]any `json:"true"` // what YAML 1.1 reads "on" as
	Permissions map[string]string
	Jobs        map[string]struct {
		RunsOn         string `json:"runs-on"`
		TimeoutMinutes int    `json:"timeout-minutes"`
		Strategy       struct {
			FailFast bool `json:"fail-fast"`
			Matrix   map[string][]string
		}
		Env   map[string]string
		Steps []step
	}
}

var verb = regexp.MustCompile(`(?m)\bmake ([a-z-]+)`)

// verbs are the Makefile's.
func verbs(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^([a-z-]+):.*## `).FindAllStringSubmatch(read(t, filepath.Join(root, "Makefile")), -1) {
		found[match[1]] = true
	}
	return found
}

// The workflow for changes runs what .ci/run runs, in the same order, and all workflows run verbs that exist.
func TestWorkflows(t *testing.T) {
	var ci, publish workflow
	decode(t, ".github/workflows/ci.yaml", &ci)
	decode(t, ".github/workflows/release.yaml", &publish)
	var want []string
	for _, match := range verb.FindAllStringSubmatch(read(t, filepath.Join(root, ".ci/run")), -1) {
		want = append(want, match[1])
	}
	if diff := cmp.Diff(want, ci.Jobs["test"].Strategy.Matrix["verb"]); diff != "" || len(want) == 0 {
		t.Errorf(".ci/run (-) and the workflow (+):\n%s", diff)
	}
	var ran []string
	for _, step := range publish.Jobs["release"].Steps {
		for _, match := range verb.FindAllStringSubmatch(step.Run, -1) {
			ran = append(ran, match[1])
		}
	}
	if want := []string{"release", "release-verify"}; !slices.Equal(ran, want) {
		t.Errorf("a tag runs %v, want %v", ran, want)
	}
	known := verbs(t)
	for _, name := range append(ran, want...) {
		if !known[name] {
			t.Errorf("the Makefile has no verb %s", name)
		}
	}
	for _, w := range []workflow{ci, publish} {
		for name, job := range w.Jobs {
			if job.RunsOn == "" || job.TimeoutMinutes == 0 || w.Permissions["contents"] == "" {
				t.Errorf("%s: job %s lacks a machine, a time limit or permissions", w.Name, name)
			}
			for _, step := range job.Steps {
				if (step.Uses == "") == (step.Run == "") || strings.Contains(step.Run, "${{ github") || strings.Contains(step.Run, "${{ secrets") {
					t.Errorf("%s: %+v must use or run something, and take values by its environment", w.Name, step)
				}
			}
		}
	}
}

// The secrets that the workflow needs are those that the page on releasing names.
func TestReleaseSecretsAreDocumented(t *testing.T) {
	page := read(t, filepath.Join(root, "docs/releasing.md"))
	for _, match := range regexp.MustCompile(`secrets\.([A-Z_]+)`).FindAllStringSubmatch(read(t, filepath.Join(root, ".github/workflows/release.yaml")), -1) {
		if !strings.Contains(page, "`"+match[1]+"`") {
			t.Errorf("docs/releasing.md does not name the secret %s", match[1])
		}
	}
}

// The action's script lints with its inputs, and never executes them.
func TestAction(t *testing.T) {
	var action struct {
		Name, Description string
		Inputs            map[string]struct{ Description, Default string }
		Runs              struct {
			Using string
			Steps []step
		}
	}
	decode(t, "action.yml", &action)
	if action.Runs.Using != "composite" {
		t.Errorf("runs by %s", action.Runs.Using)
	}
	last := action.Runs.Steps[len(action.Runs.Steps)-1]
	for _, step := range action.Runs.Steps {
		if step.Run != "" && (step.Shell != "bash" || strings.Contains(step.Run, "${{")) {
			t.Errorf("%+v must have a shell, and take inputs by its environment", step)
		}
	}
	binary := os.Getenv("KYKLOS_BIN")
	if binary == "" {
		t.Skip("KYKLOS_BIN is not set: make test-release does")
	}
	for name, test := range map[string]struct {
		inputs map[string]string
		exit   int
		want   string
	}{
		"samples":    {map[string]string{"paths": "config/samples/office-hours.yaml config/samples/workspaces/minimal.yaml"}, 0, "no findings in 2 objects"},
		"a mistake":  {map[string]string{"paths": "config/samples/invalid/two-mistakes.yaml"}, 1, "::error file=config/samples/invalid/two-mistakes.yaml,line=13"},
		"a format":   {map[string]string{"paths": "config/samples/invalid/two-mistakes.yaml", "output": "json"}, 1, `"errors": 2`},
		"a policy":   {map[string]string{"paths": "config/samples/office-hours.yaml", "policy": "docs/pipelines/policies.yaml"}, 1, "replicas-limit"},
		"a warning":  {map[string]string{"paths": "config/samples/warnings/timezone-abbreviation.yaml"}, 0, "::warning"},
		"strict":     {map[string]string{"paths": "config/samples/warnings/timezone-abbreviation.yaml", "warnings-as-errors": "true"}, 1, "::warning"},
		"a revision": {map[string]string{"paths": "config/samples/office-hours.yaml", "old-git": "no-such-revision"}, 2, "no-such-revision"},
		"a command":  {map[string]string{"paths": "$(echo config) ; echo ran"}, 2, "$(echo"},
	} {
		t.Run(name, func(t *testing.T) {
			temporary := t.TempDir()
			if err := os.Symlink(binary, filepath.Join(temporary, "kyklos")); err != nil {
				t.Fatal(err)
			}
			script := exec.Command("bash", "-eo", "pipefail", "-c", last.Run)
			script.Dir, script.Env = root, append(os.Environ(), "RUNNER_TEMP="+temporary)
			for variable, expression := range last.Env {
				input := strings.TrimSuffix(strings.TrimPrefix(expression, "${{ inputs."), " }}")
				value, given := test.inputs[input]
				if declared, ok := action.Inputs[input]; !ok || declared.Description == "" {
					t.Errorf("%s: no input %s is described", variable, input)
				} else if !given {
					value = declared.Default
				}
				script.Env = append(script.Env, variable+"="+value)
			}
			text, _ := script.CombinedOutput()
			if code := script.ProcessState.ExitCode(); code != test.exit || !strings.Contains(string(text), test.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s", code, test.exit, test.want, text)
			}
		})
	}
}

// The hooks run kyklos with the changed files as arguments.
func TestPreCommitHooks(t *testing.T) {
	var hooks []struct {
		ID, Name, Description, Language, Entry string
		TypesOr                                []string `json:"types_or"`
		RequireSerial                          bool     `json:"require_serial"`
	}
	decode(t, ".pre-commit-hooks.yaml", &hooks)
	binary := os.Getenv("KYKLOS_BIN")
	if binary == "" {
		t.Skip("KYKLOS_BIN is not set: make test-release does")
	}
	for _, hook := range hooks {
		for file, want := range map[string]int{"config/samples/office-hours.yaml": 0, "config/samples/invalid/two-mistakes.yaml": 1, "config/chart/values.yaml": 0} {
			arguments, ours := strings.CutPrefix(hook.Entry, "kyklos ")
			if !ours || hook.Language != "golang" && hook.Language != "system" {
				t.Fatalf("%+v", hook)
			}
			command := exec.Command(binary, append(strings.Fields(arguments), file)...)
			command.Dir = root
			text, _ := command.CombinedOutput()
			if code := command.ProcessState.ExitCode(); code != want {
				t.Errorf("%s: exit code %d, want %d:\n%s", command, code, want, text)
			}
		}
	}
}

// The chart lists each version of each definition for Artifact Hub, with examples that the schemas accept.
func TestChartAnnotations(t *testing.T) {
	var chart struct{ Annotations map[string]string }
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(root, "config/chart/Chart.yaml"))), &chart); err != nil {
		t.Fatal(err)
	}
	var listed []struct{ Kind, Version, Name, DisplayName, Description string }
	if err := yaml.UnmarshalStrict([]byte(chart.Annotations["artifacthub.io/crds"]), &listed); err != nil {
		t.Fatal(err)
	}
	var examples []map[string]any
	if err := yaml.Unmarshal([]byte(chart.Annotations["artifacthub.io/crdsExamples"]), &examples); err != nil {
		t.Fatal(err)
	}
	schemas := schemas(t)
	found := map[string]bool{}
	for _, crd := range listed {
		found[schemasFolder+"/kyklos.io/"+strings.ToLower(crd.Kind)+"_"+crd.Version+".json"] = true
	}
	for name := range schemas {
		if !found[name] || len(listed) != len(schemas) {
			t.Errorf("%s is not listed, or something else is: %v", name, listed)
		}
	}
	for _, example := range examples {
		if schema := lookUp(schemas, example); schema == nil {
			t.Errorf("no schema for %v", example)
		} else if err := schema.Validate(example); err != nil {
			t.Error(err)
		}
	}
}
