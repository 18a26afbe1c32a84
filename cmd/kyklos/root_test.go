package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/cli"
	"kyklos.io/kyklos/internal/archive/mover"
)

// called runs the program as it is called, and returns what it writes.
func called(program, stdin string, args ...string) (stdout, stderr string, err error) {
	root := newCommand()
	setUpPlugin(root, program, args)
	var out, complaint bytes.Buffer
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&out)
	root.SetErr(&complaint)
	err = root.Execute()
	return out.String(), complaint.String(), err
}

// Errors of the command line have hints.
func TestMisspelled(t *testing.T) {
	for line, want := range map[string][]string{
		"convrt":                         {`unknown command "convrt" for "kyklos"`, "convert"},
		"convert --filname x":            {"unknown flag: --filname", "did you mean --filename?", "kyklos convert --help"},
		"convert -x":                     {"unknown shorthand flag: 'x'", "kyklos convert --help"},
		"convert --to":                   {"flag needs an argument: --to", "kyklos convert --help"},
		"convert --to v1beta1":           {"-f FILE"},
		"convert -f x":                   {"--to is required: v1alpha1 or v1beta1"},
		"preview --days week":            {`--days: must be a whole number, not "week"`, "kyklos preview --help"},
		"diff":                           {"kyklos diff BEFORE AFTER"},
		"diff HEAD ../../config/samples": {"stat HEAD: no such file", "kyklos diff REVISION -- PATH"},
		"lint --at noon ../../config/samples/office-hours.yaml": {`--at: "noon" is not a time`},
		"convert -f x --to v2":             {"--to: must be one of v1alpha1, v1beta1", `"v2"`},
		"convert -f /nowhere --to v1beta1": {"/nowhere"},
		"convert -w -f - --to v1beta1":     {"--write", "standard input"},
		"version -o yaml":                  {"--output: must be one of text, json", `"yaml"`},
		"mover archve":                     {`unknown command "archve" for "kyklos mover"`},
	} {
		_, _, err := called("kyklos", "", strings.Fields(line)...)
		for _, part := range want {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v does not say %s", line, err, part)
			}
		}
	}
}

// Pipelines distinguish findings from failures, which have exit code 2.
func TestExitCodes(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	const sample, other = "../../config/samples/office-hours.yaml ", "../../config/samples/holidays.yaml "
	for line, want := range map[string]int{
		"diff --exit-code " + sample + other: cli.ExitFindings, "lint ../../config/samples/invalid/two-mistakes.yaml": cli.ExitFindings,
		"diff": 2, "diff --exit-cod " + sample + other: 2, "diff --days x " + sample + other: 2, "diff " + sample + "nowhere": 2,
		"lnt": 2, "lint": 2, "lint --filname " + sample: 2, "lint nowhere": 2, "lint -o pdf " + sample: 2, "lint --kubeconfig nowhere " + sample: 2,
		"preview": 2, "preview -f nowhere": 2, "preview -o pdf -f " + sample: 2, "explain": 2, "explain --att now": 2,
		"convert": 2, "convert --to v1beta1 nowhere": 2, "version -o pdf": 2,
		"manager --nonsense": 1, "mover archive": 1, "heartbeat --workspace ann": 1,
	} {
		root := newCommand()
		setUpPlugin(root, "kyklos", strings.Fields(line))
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		if ran, err := root.ExecuteC(); err == nil || exitCode(ran, err) != want {
			t.Errorf("%s: %v, not with the exit code %d", line, err, want)
		}
	}
	movers, _, err := newCommand().Find([]string{"mover"})
	if err != nil {
		t.Fatal(err)
	}
	lost := &mover.Failure{Code: mover.MetaNotFound}
	if code := exitCode(movers, fmt.Errorf("restore: %w", lost)); code != lost.ExitCode() || code <= 2 {
		t.Errorf("a mover's failure has the exit code %d", code)
	}
}

// Every command has a group, and examples unless Kyklos runs it in a cluster.
func TestEveryCommandIsExplained(t *testing.T) {
	for _, cmd := range newCommand().Commands() {
		if cmd.GroupID == "" && cmd.Name() != "version" {
			t.Errorf("%s is in no group", cmd.Name())
		}
		if usages := cmd.Flags().FlagUsages(); strings.Contains(usages, "stringArray") {
			t.Errorf("%s shows Go types:\n%s", cmd.Name(), usages)
		}
		if cmd.Example == "" && cmd.GroupID != "cluster" {
			t.Errorf("%s has no examples", cmd.Name())
		}
	}
}

func TestPlugin(t *testing.T) {
	help, _, err := called("/usr/bin/kubectl-kyklos", "", "convert", "--help")
	if err != nil || !strings.Contains(help, "kubectl kyklos convert [-f") || !strings.Contains(help, "| kubectl kyklos convert -f -") {
		t.Errorf("%v in\n%s", err, help)
	}
	if own, _, _ := called("kyklos", "", "convert", "--help"); strings.Contains(own, "kubectl kyklos") {
		t.Errorf("without kubectl:\n%s", own)
	}
	completed, _, err := called("kubectl_complete-kyklos", "", "convert", "--to", "")
	if want := "v1alpha1\nv1beta1\n:4\n"; err != nil || completed != want {
		t.Errorf("%v, %q, want %q", err, completed, want)
	}
}

// Without a cluster, the error explains how to name one.
func TestNoCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, _, err := called("kyklos", "", "heartbeat", "--workspace", "ann"); err == nil || !strings.Contains(err.Error(), "use --kubeconfig") {
		t.Errorf("without a kubeconfig: %v", err)
	}
}

// Files are written only if all can be read and something changes; a link stays a link, and permissions stay.
func TestConvertWrites(t *testing.T) {
	dir := t.TempDir()
	sample, err := os.ReadFile("../../config/samples/v1alpha1/office-hours.yaml")
	if err != nil {
		t.Fatal(err)
	}
	old, broken, link := filepath.Join(dir, "old.yaml"), filepath.Join(dir, "broken.yaml"), filepath.Join(dir, "link.yaml")
	if err := errors.Join(os.WriteFile(old, sample, 0o640), os.Symlink("old.yaml", link),
		os.WriteFile(broken, []byte("apiVersion: kyklos.io/v1alpha1\n  kind: x\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	read := func() string {
		content, err := os.ReadFile(old)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	if _, _, err := called("kyklos", "", "convert", "-w", "--to", "v1beta1", "-f", link, "-f", broken); err == nil || !strings.Contains(err.Error(), broken+":2") {
		t.Errorf("a broken file: %v", err)
	}
	if read() != string(sample) {
		t.Error("written beside a broken file")
	}
	out, said, err := called("kyklos", "", "convert", "-w", "--to", "v1beta1", "-f", link)
	if err != nil || out != "" || said != link+": 1 converted to v1beta1\n" {
		t.Errorf("%v, %q, %q", err, out, said)
	}
	if want := strings.Replace(string(sample), "apiVersion: kyklos.io/v1alpha1", "apiVersion: kyklos.io/v1beta1", 1); read() != want {
		t.Errorf("written:\n%s", read())
	}
	target, err := os.Readlink(link)
	info, statErr := os.Stat(old)
	if err != nil || statErr != nil || target != "old.yaml" || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v: the link leads to %q, the permissions are %v", err, statErr, target, info.Mode())
	}
	if _, said, err := called("kyklos", "", "convert", "-w", "--to", "v1beta1", old); err != nil || said != "" {
		t.Errorf("a second time: %v, %q", err, said)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// What is printed is all that was read, files apart from each other.
func TestConvertPrints(t *testing.T) {
	out, said, err := called("kyklos", "a: 1", "convert", "--to", "v1beta1", "-f", "-", "-f", "../../config/samples/holidays.yaml")
	sample, readErr := os.ReadFile("../../config/samples/holidays.yaml")
	if want := "a: 1\n---\n" + string(sample); err != nil || readErr != nil || said != "" || out != want {
		t.Errorf("%v, %v, %q\n%s", err, readErr, said, cmp.Diff(want, out))
	}
}
