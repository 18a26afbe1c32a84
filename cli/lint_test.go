package cli

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// linted runs lint.
func linted(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	stdout, stderr, code = kyklos(t, stdin, append([]string{"lint"}, args...)...)
	return code, stdout, stderr
}

// manifests writes files into a new folder and goes there.
func manifests(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const (
	officeHoursSample = "config/samples/office-hours.yaml"
	twoMistakes       = "config/samples/invalid/two-mistakes.yaml"
	oldZone           = "config/samples/warnings/timezone-deprecated.yaml"
)

func TestLintExitCodes(t *testing.T) {
	t.Chdir("..")
	mistake, err := os.ReadFile(twoMistakes)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		stdin  string
		args   []string
		code   int
		stdout string // a part of it; "" is nothing at all
		stderr string
	}{
		"nothing to say":             {args: []string{officeHoursSample}, stdout: "no findings in 1 object of 1 file"},
		"a flag or an argument":      {args: []string{"-f", officeHoursSample, twoMistakes}, code: 1, stdout: "2 errors in 2 objects of 2 files"},
		"standard input":             {stdin: string(mistake), args: []string{"-f", "-"}, code: 1, stdout: "-:13:11: error: spec.targetRef.kind: "},
		"warnings":                   {args: []string{oldZone}, stdout: "1 warning"},
		"warnings as errors":         {args: []string{oldZone, "--warnings-as-errors"}, code: 1, stdout: "1 warning"},
		"no file":                    {code: 2, stderr: "nothing to lint: give files or folders, as in kyklos lint -f config/, or - for standard input"},
		"a file that there is not":   {args: []string{"nowhere.yaml"}, code: 2, stderr: "read the manifests: stat nowhere.yaml: no such file or directory"},
		"a flag that there is not":   {args: []string{"--colour"}, code: 2, stderr: "unknown flag: --colour"},
		"a format that there is not": {args: []string{"-o", "xml", officeHoursSample}, code: 2, stderr: `unknown format "xml"`},
		"no YAML, beside a mistake": {stdin: "a: [b\n---\n" + string(mistake), args: []string{"-"}, code: 2,
			stdout: "2 errors in 1 object of 1 file", stderr: "-:1: "},
		"a template":                    {stdin: "a: {{ .Values.a }}\n", args: []string{"-"}, code: 2, stdout: "no findings", stderr: "helm template CHART | kyklos lint -f -"},
		"no time":                       {args: []string{officeHoursSample, "--at", "noon"}, code: 2, stderr: `--at: "noon" is not a time: use 2026-11-23`},
		"two kinds of old":              {args: []string{officeHoursSample, "--old", officeHoursSample, "--old-git", "HEAD"}, code: 2, stderr: "exclude each other"},
		"no old":                        {args: []string{officeHoursSample, "--old", "nowhere"}, code: 2, stderr: "--old: stat nowhere: no such file or directory"},
		"the history of a pipe":         {stdin: "a: b\n---\n" + string(mistake), args: []string{"-", "--old-git", "HEAD"}, code: 2, stderr: "--old-git needs files or folders: standard input has no history"},
		"no revision":                   {args: []string{officeHoursSample, "--old-git", "no-such-branch"}, code: 2, stderr: `--old-git: "no-such-branch" is not a revision`},
		"no definition":                 {args: []string{officeHoursSample, "--crd", "nowhere"}, code: 2, stderr: "--crd: stat nowhere: no such file or directory"},
		"no definition in it":           {args: []string{officeHoursSample, "--crd", officeHoursSample}, code: 2, stderr: "--crd: no CustomResourceDefinition in " + officeHoursSample},
		"an empty pipe":                 {stdin: "\n", args: []string{"-"}, code: 2, stderr: "standard input has no objects"},
		"no kind":                       {stdin: "apiVersion: kyklos.io/v1beta1\nKind: TimeWindowScaler\n", args: []string{"-"}, code: 2, stdout: "no findings", stderr: "-:1: kind is missing"},
		"no policy":                     {args: []string{officeHoursSample, "--policy", "nowhere"}, code: 2, stderr: "--policy: stat nowhere: no such file or directory"},
		"no cluster":                    {args: []string{officeHoursSample, "--kubeconfig", "nowhere"}, code: 2, stderr: "find the API server: stat nowhere: no such file or directory"},
		"foreign objects":               {args: []string{"config/rbac"}, stdout: "no findings in 0 objects"},
		"our own definitions":           {args: []string{officeHoursSample, "--crd", "config/crd/bases"}, stdout: "no findings in 1 object"},
		"a time with a change":          {args: []string{"config/samples/night-batch.yaml", "--at", "2026-03-02T00:00:00Z"}, stdout: "1 object"},
		"a merge key and its key again": {stdin: strings.Replace(officeHours, "replicas: 10}", "replicas: 10}, {<<: {days: [Sat], start: \"09:00\", replicas: 1}, days: [Sun], end: \"17:00\"}", 1), args: []string{"-"}, stdout: "no findings in 1 object"},
		"the help of the format":        {args: []string{"--help"}, stdout: "text, json, junit, sarif, github"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := linted(t, tc.stdin, tc.args...)
			if code != tc.code || !strings.Contains(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) ||
				(tc.stdout == "") != (stdout == "") || (tc.stderr == "") != (stderr == "") {
				t.Errorf("exit code %d, want %d\nstdout %q\nstderr %q", code, tc.code, stdout, stderr)
			}
		})
	}
}

// In a folder, what cannot be read is an error, and the rest is checked.
func TestLintFolderWithADanglingLink(t *testing.T) {
	manifests(t, map[string]string{"a/office.yaml": officeHours})
	if err := os.Symlink("nowhere", "a/b.yaml"); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := linted(t, "", "a")
	if code != 2 || !strings.Contains(stdout, "no findings in 1 object of 1 file") || !strings.Contains(stderr, "a/b.yaml: no such file or directory") {
		t.Errorf("exit code %d\nstdout %q\nstderr %q", code, stdout, stderr)
	}
}

// The findings in a file do not depend on its encoding. convert, which would have to write it, refuses UTF-16.
func TestUTF16(t *testing.T) {
	text := strings.Replace(officeHours, "09:00", "9:00", 1)
	var data bytes.Buffer
	if err := binary.Write(&data, binary.LittleEndian, utf16.Encode([]rune("\ufeff"+text))); err != nil {
		t.Fatal(err)
	}
	_, want, _ := linted(t, text, "-")
	if code, stdout, stderr := linted(t, data.String(), "-"); code != 1 || stdout != want || !strings.Contains(stdout, "^~~") {
		t.Errorf("exit code %d\nstdout %s\nwant %s\nstderr %s", code, stdout, want, stderr)
	}
	manifests(t, map[string]string{"a/wide.yaml": data.String(), "a/old.yaml": strings.Replace(officeHours, "v1beta1", "v1alpha1", 1)})
	stdout, stderr, code := kyklos(t, "", "convert", "--to=v1beta1", "--write", "a")
	if code != 2 || stdout != "" || !strings.Contains(stderr, "nothing was converted") || !strings.Contains(stderr, "a/wide.yaml is in UTF-16LE, and only UTF-8 can be converted") {
		t.Errorf("exit code %d\nstdout %s\nstderr %s", code, stdout, stderr)
	}
}

// An unreachable cluster is an error.
func TestLintUnreachableCluster(t *testing.T) {
	t.Chdir("..")
	config := filepath.Join(t.TempDir(), "kubeconfig")
	text := "apiVersion: v1\nkind: Config\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a}}]\nclusters: [{name: a, cluster: {server: 'http://127.0.0.1:1'}}]\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := linted(t, "", officeHoursSample, "--kubeconfig", config)
	if code != 2 || stdout != "" || !strings.Contains(stderr, "contact the API server: ") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// A value that another definition refuses is refused by --crd, and one that it does not know is unknown.
func TestLintByOtherDefinitions(t *testing.T) {
	sample, err := os.ReadFile("../" + officeHoursSample)
	if err != nil {
		t.Fatal(err)
	}
	definition, err := os.ReadFile("../config/crd/bases/kyklos.io_timewindowscalers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	older := strings.ReplaceAll(string(definition), "gracePeriodSeconds:", "grace:")
	manifests(t, map[string]string{"a.yaml": string(sample), "crd.yaml": older})
	code, stdout, stderr := linted(t, "", "a.yaml", "--crd", "crd.yaml")
	if code != 1 || !strings.Contains(stdout, "spec.gracePeriodSeconds: unknown field [unknown-field]") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

// An unchanged mistake of the revision is not refused; other mistakes are.
func TestLintOldRevision(t *testing.T) {
	sample, err := os.ReadFile("../" + twoMistakes)
	if err != nil {
		t.Fatal(err)
	}
	manifests(t, map[string]string{"apps/a.yaml": string(sample)})
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "a"}} {
		if out, err := exec.CommandContext(t.Context(), "git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	edited := strings.Replace(string(sample), "defaultReplicas: 2", "defaultReplicas: 3", 1)
	if err := os.WriteFile("apps/a.yaml", []byte(edited), 0o600); err != nil || edited == string(sample) {
		t.Fatal(err, "the sample has no defaultReplicas: 2")
	}
	if code, stdout, _ := linted(t, "", "apps", "--old-git", "HEAD"); code != 0 {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	edited = strings.Replace(edited, `"17:00"`, `"17"`, 1)
	if err := os.WriteFile("apps/a.yaml", []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := linted(t, "", "apps", "--old-git", "HEAD")
	if code != 1 || !strings.Contains(stdout, "error: spec.windows[0].end: ") || strings.Contains(stdout, "error: spec.targetRef.kind: ") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
}

// The repository's own folder has all that such folders have: kustomizations that take each other in, patches, a chart, and samples that are
// wrong on purpose. Nothing but those samples is found fault with, and all can be read.
func TestLintOfThisRepository(t *testing.T) {
	t.Chdir("..")
	code, stdout, stderr := linted(t, "", "config", "-o", "github")
	if code != 1 || strings.Count(stderr, "\n") != 2 || !strings.Contains(stderr, " is a kustomization, ") || !strings.Contains(stderr, "config/chart is a Helm chart, ") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for line := range strings.Lines(stdout) {
		_, file, isFinding := strings.Cut(line, " file=config/")
		if isFinding && !strings.HasPrefix(file, "samples/") && !strings.Contains(file, "/testdata/") {
			t.Error(line)
		}
	}
}
