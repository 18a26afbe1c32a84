package cli

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestExplainFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	other := strings.Replace(officeHours, "name: office", "name: other", 1)
	write(t, "office.yaml", officeHours)
	write(t, "both.yaml", officeHours+"---\n"+other)
	write(t, "broken.yaml", strings.Replace(officeHours, "09:00", "9:00", 1))
	const begin = "At Mon 2026-11-23 10:00 CET (09:00 UTC) office asks for 10 replicas: "
	for name, tc := range map[string]struct {
		args           []string
		stdout, stderr string // a part of each
		code           int
	}{
		"on the schedule's clock": {[]string{"-f", "office.yaml", "--at", "2026-11-23 10:00"}, begin, "", 0},
		"in UTC":                  {[]string{"-f", "office.yaml", "--at", "2026-11-23T09:00:00Z"}, begin, "", 0},
		"one of two":              {[]string{"-f", "both.yaml", "--at", "2026-11-23T09:00:00Z", "other"}, "(09:00 UTC) other asks for", "", 0},
		"both":                    {[]string{"-f", "both.yaml", "--at", "2026-11-23T09:00:00Z"}, "\n\nAt Mon 2026-11-23 10:00 CET (09:00 UTC) other asks", "", 0},
		"no such name":            {[]string{"-f", "both.yaml", "nobody"}, "", "nobody", 2},
		"no such file":            {[]string{"-f", "nowhere.yaml"}, "", "nowhere.yaml", 2},
		"a mistake":               {[]string{"-f", "broken.yaml"}, "", "spec.windows[0].start", 2},
		"no time":                 {[]string{"-f", "office.yaml", "--at", "noon"}, "", `--at: "noon" is not a time: use 2026-11-23 or "2026-11-23 10:00" (both in Europe/Berlin)`, 2},
		"no format":               {[]string{"-f", "office.yaml", "-o", "yaml"}, "", "must be one of text, json", 2},
		"no cluster":              {[]string{"--kubeconfig", "nowhere", "office"}, "", "use -f FILE", 2},
	} {
		stdout, stderr, code := kyklos(t, "", append([]string{"explain"}, tc.args...)...)
		if !strings.Contains(stdout, tc.stdout) || tc.stdout == "" != (stdout == "") || !strings.Contains(stderr, tc.stderr) || code != tc.code {
			t.Errorf("%s: exit %d\n%s\n%s", name, code, stdout, stderr)
		}
	}
	stdout, _, _ := kyklos(t, officeHours, "explain", "-f", "-", "--at", "2026-11-23 10:00", "-o", "json")
	var got struct {
		Explanations []struct{ Name, Local string }
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil || len(got.Explanations) != 1 || got.Explanations[0].Local != "2026-11-23T10:00:00+01:00" {
		t.Errorf("%v: %s", err, stdout)
	}
}

// Duplicates are noted once, and the last one counts.
func TestDuplicates(t *testing.T) {
	t.Chdir(t.TempDir())
	follows := strings.Replace(officeHours, "spec:\n", "spec:\n  holidays: {mode: treat-as-closed, sourceRef: {name: days}}\n", 1)
	const days = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: days}\n"
	write(t, "a.yaml", follows+"---\n"+days+"data: {\"2026-11-23\": a}\n---\n"+strings.Replace(officeHours, "name: office", "name: other", 1))
	write(t, "b.yaml", days+"data: {\"2026-11-24\": b}\n---\n"+follows)
	const (
		configMap = "kyklos: note: ConfigMap default/days is defined 2 times, at a.yaml:13 and b.yaml:3: the one applied last counts\n"
		schedule  = "kyklos: note: TimeWindowScaler default/office is defined 2 times, at a.yaml:3 and b.yaml:8: the one applied last counts\n"
	)
	for line, want := range map[string]string{
		"preview -f a.yaml -f b.yaml":                        schedule + configMap,
		"preview -f a.yaml -f b.yaml other":                  "",
		"explain -f a.yaml -f b.yaml --at 2026-11-24":        schedule + configMap,
		"diff a.yaml .":                                      schedule + configMap,
		"diff --from 2026-11-24 a.yaml a.yaml":               "",
		"explain -f b.yaml -f a.yaml office --at 2026-11-23": strings.NewReplacer("a.yaml:13 and b.yaml:3", "b.yaml:3 and a.yaml:13", "a.yaml:3 and b.yaml:8", "b.yaml:8 and a.yaml:3").Replace(schedule + configMap),
	} {
		if stdout, stderr, code := kyklos(t, "", strings.Fields(line)...); stderr != want || stdout == "" || code != 0 {
			t.Errorf("%s: exit %d, %s\n%s", line, code, stderr, stdout)
		}
	}
	if stdout, _, _ := kyklos(t, "", "explain", "-f", "a.yaml", "-f", "b.yaml", "--at", "2026-11-24"); !strings.Contains(stdout, "2026-11-24 is a holiday") {
		t.Errorf("the last does not count:\n%s", stdout)
	}
}
