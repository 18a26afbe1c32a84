package main

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
		"no time":                 {[]string{"-f", "office.yaml", "--at", "noon"}, "", `--at: "noon" is no time`, 2},
		"no format":               {[]string{"-f", "office.yaml", "-o", "yaml"}, "", "none of text, json", 2},
		"no cluster":              {[]string{"--kubeconfig", "nowhere", "office"}, "", "give -f FILE", 2},
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
