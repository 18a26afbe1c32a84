package cli

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const officeHours = `apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: office}
spec:
  targetRef: {kind: Deployment, name: web}
  timezone: Europe/Berlin
  windows: [{days: [Mon, Tue, Wed, Thu, Fri], start: "09:00", end: "17:00", replicas: 10}]
  defaultReplicas: 0
`

// repository makes a Git repository with a file on its branch main the working folder of the test.
func repository(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	write(t, "schedules/office.yaml", officeHours)
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "."}, {"add", "-A"}, {"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "Office hours"},
	} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func TestDiffSources(t *testing.T) {
	repository(t)
	later := strings.Replace(officeHours, "09:00", "10:00", 1)
	write(t, "schedules/office.yaml", later)
	write(t, "new.yaml", strings.Replace(officeHours, "name: office", "name: new", 1))
	write(t, "same.json", `{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}`)
	const moved, nothing = "1 schedule: changed", "1 schedule: unchanged"
	for name, tc := range map[string]struct {
		args   []string
		stdin  string
		stdout string // its beginning
		stderr string // a part of it
		code   int
	}{
		"a revision and what is there":    {[]string{"main", "--", "schedules"}, "", moved, "", 0},
		"a revision and a file":           {[]string{"main", "--", "schedules/office.yaml"}, "", moved, "", 0},
		"two revisions":                   {[]string{"main", "HEAD", "--", "schedules"}, "", nothing, "", 0},
		"two files":                       {[]string{"main:schedules/office.yaml", "schedules/office.yaml"}, "", moved, "", 0},
		"a folder of a revision":          {[]string{"main:schedules", "schedules"}, "", moved, "", 0},
		"standard input":                  {[]string{"main:schedules", "-"}, officeHours, nothing, "", 0},
		"a new file":                      {[]string{"main", "--", "new.yaml"}, "", "1 schedule: added", "", 0},
		"a new file by itself":            {[]string{"main:new.yaml", "new.yaml"}, "", "1 schedule: added", "main has no manifests in new.yaml", 0},
		"a file that went":                {[]string{"main", "--", "schedules/office.yaml", "gone.yaml"}, "", moved, "", 0},
		"with an exit code":               {[]string{"main", "--exit-code", "--", "schedules"}, "", moved, "schedules change", 1},
		"with an exit code and no change": {[]string{"main", "HEAD", "--exit-code", "--", "schedules"}, "", nothing, "", 0},
		"no schedules":                    {[]string{"same.json", "same.json"}, "", "No schedules on either side", "", 0},
		"nothing on either side":          {[]string{"main", "--", "nowhere"}, "", "", "no manifests on either side", 2},
		"one source":                      {[]string{"schedules"}, "", "", "kyklos diff BEFORE AFTER", 2},
		"three sources":                   {[]string{"a", "b", "c"}, "", "", "kyklos diff BEFORE AFTER", 2},
		"no revision of that name":        {[]string{"nowhere", "--", "schedules"}, "", "", `"nowhere" is not a revision`, 2},
		"a file that is not there":        {[]string{"schedules", "nowhere"}, "", "", "REVISION:PATH", 2},
		"standard input twice":            {[]string{"-", "-"}, officeHours, "", "standard input can be one side only", 2},
		"days":                            {[]string{"main", "--days", "0", "--", "schedules"}, "", "", "--days: must be from 1 to 400", 2},
		"a format that there is not":      {[]string{"main", "-o", "yaml", "--", "schedules"}, "", "", "must be one of text, markdown, json", 2},
		"a beginning that is none":        {[]string{"main", "--from", "soon", "--", "schedules"}, "", "", "--from: \"soon\" is not a time", 2},
	} {
		args := append([]string{"diff", "--from=2026-11-23"}, tc.args...)
		stdout, stderr, code := kyklos(t, tc.stdin, args...)
		if !strings.HasPrefix(stdout, tc.stdout) || tc.stdout == "" != (stdout == "") || !strings.Contains(stderr, tc.stderr) || tc.stderr == "" != (stderr == "") || code != tc.code {
			t.Errorf("%s: exit %d\n%s\n%s", name, code, stdout, stderr)
		}
	}
}

// What is invalid on both sides is skipped; what a change breaks is an error.
func TestDiffOfInvalidManifests(t *testing.T) {
	repository(t)
	broken := strings.Replace(officeHours, "09:00", "9:00", 1)
	write(t, "before/a.yaml", officeHours+"---\n"+strings.Replace(broken, "name: office", "name: patch", 1))
	write(t, "after/a.yaml", strings.Replace(officeHours, "17:00", "18:00", 1)+"---\n"+strings.Replace(broken, "name: office", "name: patch", 1))
	write(t, "worse/a.yaml", broken)
	stdout, stderr, code := kyklos(t, "", "diff", "before", "after", "--from=2026-11-23")
	if code != 0 || !strings.HasPrefix(stdout, "1 schedule: changed") || !strings.Contains(stderr, "invalid on both sides: 1, the first after/a.yaml:") || !strings.Contains(stderr, "spec.windows[0].start") {
		t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	stdout, stderr, code = kyklos(t, "", "diff", "before", "worse", "--from=2026-11-23")
	if code != 2 || stdout != "" || !strings.Contains(stderr, "worse/a.yaml:7: TimeWindowScaler office: spec.windows[0].start") || !strings.Contains(stderr, "kyklos lint") {
		t.Errorf("exit %d\n%s\n%s", code, stdout, stderr)
	}
}

// The versions say the same, and a date begins on the schedule's own clock.
func TestDiffOfVersions(t *testing.T) {
	repository(t)
	write(t, "old.yaml", strings.Replace(officeHours, "v1beta1", "v1alpha1", 1))
	stdout, stderr, code := kyklos(t, "", "diff", "old.yaml", "schedules/office.yaml", "--from=2026-11-23", "--days=1", "-o", "json")
	var got struct {
		Scalers []struct {
			Change, From, Until string
			Notes               []string
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || len(got.Scalers) != 1 {
		t.Fatalf("%v, exit %d: %s %s", err, code, stdout, stderr)
	}
	one := got.Scalers[0]
	if one.Change != "unchanged" || one.From != "2026-11-22T23:00:00Z" || one.Until != "2026-11-23T23:00:00Z" || len(one.Notes) != 1 || !strings.Contains(one.Notes[0], "v1alpha1 before, v1beta1 after, without any effect") {
		t.Errorf("%+v", one)
	}
}

// What cannot be read on either side is an error, unless it is the same on both: then it is left out.
func TestDiffOfUnreadableSides(t *testing.T) {
	const name, ignored = "schedules/office.yaml", "Skipped manifests that are invalid on both sides: 1"
	for what, text := range map[string]string{
		"a syntax error":  officeHours + "  windows: [\n",
		"a binary file":   "\x00\x80\xff",
		"a cyclic anchor": "# kyklos.io\na: &a [*a]\n",
		"an unknown zone": strings.Replace(officeHours, "Europe/Berlin", "Europe/Nowhere", 1),
		"no kind":         strings.Replace(officeHours, "kind: TimeWindowScaler\n", "", 1),
		"a wrong type":    strings.Replace(officeHours, "replicas: 10", "replicas: [10]", 1),
	} {
		t.Run(what, func(t *testing.T) {
			repository(t)
			write(t, "wrong.yaml", text)
			for _, args := range [][]string{{"wrong.yaml", name}, {name, "wrong.yaml"}, {"main", "--", "wrong.yaml"}} {
				stdout, stderr, code := kyklos(t, "", append([]string{"diff"}, args...)...)
				if code != 2 || stdout != "" || !strings.Contains(stderr, "wrong.yaml:") || !strings.Contains(stderr, "cannot read the manifests listed above") {
					t.Errorf("%v: exit %d\n%s%s", args, code, stdout, stderr)
				}
			}
			stdout, stderr, code := kyklos(t, "", "diff", "wrong.yaml", "wrong.yaml")
			if code != 0 || !strings.HasPrefix(stdout, "No schedules on either side") || !strings.Contains(stderr, ignored) {
				t.Errorf("the same on both sides: exit %d\n%s%s", code, stdout, stderr)
			}
			write(t, name, text)
			commitAll(t)
			write(t, name, officeHours)
			if stdout, stderr, code := kyklos(t, "", "diff", "HEAD", "--", name); code != 2 || stdout != "" || !strings.Contains(stderr, "HEAD:"+name+":") {
				t.Errorf("a revision: exit %d\n%s%s", code, stdout, stderr)
			}
		})
	}
}

func commitAll(t *testing.T) {
	t.Helper()
	for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "More"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", args, out)
		}
	}
}

// A schedule with another name and another zone is compared from one instant on: midnight on its new clock.
func TestDiffOfARenamedSchedule(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "before.yaml", officeHours)
	write(t, "after.yaml", strings.NewReplacer("name: office", "name: bureau", "Europe/Berlin", "Asia/Tokyo").Replace(officeHours))
	stdout, stderr, code := kyklos(t, "", "diff", "before.yaml", "after.yaml", "--from=2026-11-23", "--days=1", "-o", "json")
	var got struct {
		Scalers []struct {
			From, Until, RenamedFrom string
			ReplicaHours             struct{ Before, After float64 }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != 0 || len(got.Scalers) != 1 {
		t.Fatalf("%v, exit %d: %s %s", err, code, stdout, stderr)
	}
	// Until 15:00 UTC: that cuts the last of the eight hours in Berlin, which begin at 08:00 UTC, and none of those in Tokyo.
	if one := got.Scalers[0]; one.RenamedFrom != "office" || one.From != "2026-11-22T15:00:00Z" || one.Until != "2026-11-23T15:00:00Z" || one.ReplicaHours.Before != 70 || one.ReplicaHours.After != 80 {
		t.Errorf("%+v", one)
	}
}

// Holidays are those of the ConfigMaps on each side; a missing one is reported if anything changes.
func TestDiffOfHolidays(t *testing.T) {
	repository(t)
	follows := strings.Replace(officeHours, "spec:\n", "spec:\n  holidays: {mode: treat-as-closed, sourceRef: {name: days}}\n", 1)
	days := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: days}\ndata: {\"2026-11-24\": closed}\n"
	write(t, "without.yaml", follows)
	write(t, "with.yaml", follows+days)
	stdout, _, _ := kyklos(t, "", "diff", "without.yaml", "with.yaml", "--from=2026-11-23", "--days=3")
	for _, part := range []string{"holidays added: 2026-11-24", "their ConfigMap is not among the manifests", "removed   Tue 09:00   0 -> 10"} {
		if !strings.Contains(stdout, part) {
			t.Errorf("%q is not in\n%s", part, stdout)
		}
	}
	if stdout, _, _ = kyklos(t, "", "diff", "without.yaml", "without.yaml", "--from=2026-11-23", "-o", "markdown"); !strings.HasPrefix(stdout, "**No schedule changes its behaviour**") || strings.Contains(stdout, "details") {
		t.Error(stdout)
	}
}
