package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/source"
)

// office is the sample that most examples show.
const office = "../config/samples/office-hours.yaml"

func TestPreviewWritesEveryFormat(t *testing.T) {
	for format, begin := range map[string]string{
		"table": "default/webapp-office-hours scales Deployment webapp\n",
		"json":  "{\n  \"scalers\": [",
		"ics":   "BEGIN:VCALENDAR\r\n",
		"svg":   "<svg ",
		"html":  "<!DOCTYPE html>",
		"png":   "\x89PNG",
	} {
		stdout, stderr, code := kyklos(t, "", "preview", "-f", office, "--from", "2026-06-08", "-o", format)
		if code != 0 || stderr != "" || !strings.HasPrefix(strings.ToLower(stdout), strings.ToLower(begin)) {
			t.Errorf("%s: exit code %d, stderr %q, stdout begins with %.40q", format, code, stderr, stdout)
		}
	}
}

// Manifests come from files and standard input, names select, and the namespace is for manifests without one.
func TestPreviewFindsSchedules(t *testing.T) {
	content, err := os.ReadFile(office)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"a file":         {[]string{"-f", office}, "default/webapp-office-hours"},
		"standard input": {[]string{"-f", "-", "-n", "web"}, "web/webapp-office-hours"},
		"two, selected":  {[]string{"-f", office, "-f", "../config/samples/holidays.yaml", "back-office-weekdays"}, "default/back-office-weekdays"},
		"others broken":  {[]string{"-f", office, "-f", "../config/samples/invalid/two-mistakes.yaml", "webapp-office-hours"}, "default/webapp-office-hours"},
	} {
		stdout, stderr, code := kyklos(t, string(content), append([]string{"preview", "-o", "json"}, tc.args...)...)
		var read struct {
			Scalers []struct{ Namespace, Name string }
		}
		if code != 0 || json.Unmarshal([]byte(stdout), &read) != nil || len(read.Scalers) != 1 {
			t.Errorf("%s: exit code %d, %s%s", name, code, stderr, stdout)
			continue
		}
		if got := read.Scalers[0].Namespace + "/" + read.Scalers[0].Name; got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// Errors are on stderr, with exit code 2 and without any output.
func TestPreviewRefuses(t *testing.T) {
	template := filepath.Join(t.TempDir(), "chart.yaml")
	if err := os.WriteFile(template, []byte("name: {{ .Values.name }}: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		args []string
		want string
		code int
	}{
		"a format":     {[]string{"-f", office, "-o", "xml"}, `--output: must be one of table, json, svg, html, png, ics, not "xml"`, 2},
		"no days":      {[]string{"-f", office, "--days", "0"}, "--days: must be from 1 to 400, not 0", 2},
		"too many":     {[]string{"-f", office, "--days", "401"}, "--days: must be from 1 to 400, not 401", 2},
		"a zone":       {[]string{"-f", office, "--zone", "Berlin"}, `--zone: unknown time zone "Berlin"`, 2},
		"a time":       {[]string{"-f", office, "--from", "tomorrow"}, `--from: "tomorrow" is not a time`, 2},
		"a far time":   {[]string{"-f", office, "--from", "9999-12-31"}, `--from: "9999-12-31" is out of range: use a time from 1970 to 2999`, 2},
		"a past time":  {[]string{"-f", office, "--from", "1969-12-31T00:00:00Z"}, "is out of range", 2},
		"no file":      {[]string{"-f", "nowhere.yaml"}, "nowhere.yaml", 2},
		"no schedule":  {[]string{"-f", "../config/samples/kustomization.yaml"}, "no TimeWindowScaler in ../config/samples/kustomization.yaml", 2},
		"a name":       {[]string{"-f", office, "nobody"}, "no TimeWindowScaler named nobody", 2},
		"holidays":     {[]string{"-f", office, "--holidays", office}, `--holidays: ` + office + `:2: "apiVersion:" is not a date`, 2},
		"namespaces":   {[]string{"-f", office, "-A"}, "--all-namespaces is for a cluster", 2},
		"an invalid":   {[]string{"-f", "../config/samples/invalid/two-mistakes.yaml"}, `two-mistakes.yaml:19: TimeWindowScaler two-mistakes: spec.windows[0].start: Invalid value: "9:00"`, 2},
		"more details": {[]string{"-f", "../config/samples/invalid/two-mistakes.yaml"}, "kyklos lint shows more details", 2},
		"a template":   {[]string{"-f", template}, "helm template", 2},
		"a big strip":  {[]string{"-f", office, "--days", "60", "-o", "svg"}, "a picture shows at most", 2},
		"no cluster":   {nil, "to read manifests instead, use -f FILE", 2},
		"its absence":  {[]string{"-f", office, "--context", "nowhere"}, "find the API server", 2},
		"unknown flag": {[]string{"--zones"}, "unknown flag: --zones", 2},
	} {
		stdout, stderr, code := kyklos(t, "", append([]string{"preview"}, tc.args...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) || stdout != "" {
			t.Errorf("%s: exit code %d, want %d; stderr %s, want %s; stdout %s", name, code, tc.code, stderr, tc.want, stdout)
		}
	}
}

func TestPreviewOfHolidays(t *testing.T) {
	list := filepath.Join(t.TempDir(), "days.txt")
	if err := os.WriteFile(list, []byte("2026-06-09\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := kyklos(t, "", "preview", "-f", office, "--holidays", list); code != 0 || !strings.Contains(stderr, "--holidays has no effect") {
		t.Errorf("exit code %d, stderr %s", code, stderr)
	}
	follows := filepath.Join(t.TempDir(), "follows.yaml")
	text := strings.Replace(officeHours, "spec:\n", "spec:\n  holidays: {mode: treat-as-closed, sourceRef: {name: days}}\n", 1)
	if err := os.WriteFile(follows, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for format, said := range map[string]bool{"ics": true, "table": false} { // a calendar has no place for notes
		if _, stderr, code := kyklos(t, "", "preview", "-f", follows, "-o", format); code != 0 || said != strings.Contains(stderr, "default/office: The holidays are unknown: ConfigMap days was not found") {
			t.Errorf("%s: exit code %d, stderr %s", format, code, stderr)
		}
	}
	stdout, stderr, code := kyklos(t, "", "preview", "-f", "../config/samples/holidays.yaml", "--holidays", list, "--from", "2026-06-08", "--days", "3")
	if code != 0 || stderr != "" || !strings.Contains(stdout, "h24") {
		t.Errorf("exit code %d, stderr %s, no holiday in\n%s", code, stderr, stdout)
	}
}

// Every sample can be previewed, in a week in which a clock changes too.
func TestPreviewOfEverySample(t *testing.T) {
	samples, err := fs.Glob(os.DirFS("../config/samples"), "*.yaml")
	if err != nil || len(samples) < 9 {
		t.Fatal(samples, err)
	}
	for _, sample := range samples {
		if sample == "kustomization.yaml" {
			continue
		}
		if _, stderr, code := kyklos(t, "", "preview", "-f", "../config/samples/"+sample, "--from", "2027-03-26", "--days", "7"); code != 0 || stderr != "" {
			t.Errorf("%s: exit code %d, %s", sample, code, stderr)
		}
	}
}

// A date begins on the clock of --zone, or of each schedule; now is the minute that runs. The days are those of that clock, also where
// one of them has 23 hours.
func TestPreviewBeginsOnAClock(t *testing.T) {
	set, err := manifest.Read([]string{"../config/samples/follow-the-sun.yaml", office}, nil)
	if err != nil {
		t.Fatal(err)
	}
	scalers, problems := source.FromManifests(set, "default", nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	now := time.Date(2027, 3, 27, 11, 30, 59, 999, time.UTC)
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		from string
		zone *time.Location
		want [2]string // of Berlin, of Kolkata
	}{
		"now":              {"", nil, [2]string{"2027-03-27T11:30:00Z 47h0m0s", "2027-03-27T11:30:00Z 48h0m0s"}},
		"a date":           {"2027-03-27", nil, [2]string{"2027-03-26T23:00:00Z 47h0m0s", "2027-03-26T18:30:00Z 48h0m0s"}},
		"a date elsewhere": {"2027-03-27", tokyo, [2]string{"2027-03-26T15:00:00Z 48h0m0s", "2027-03-26T15:00:00Z 48h0m0s"}},
		"a time":           {"2027-03-27 06:00", nil, [2]string{"2027-03-27T05:00:00Z 47h0m0s", "2027-03-27T00:30:00Z 48h0m0s"}},
		"an instant":       {"2027-03-27T06:00:00Z", nil, [2]string{"2027-03-27T06:00:00Z 47h0m0s", "2027-03-27T06:00:00Z 48h0m0s"}},
	} {
		options := previewOptions{period: period{from: tc.from, days: 2}}
		timelines, err := options.timelines(scalers, tc.zone, now)
		if err != nil {
			t.Fatal(err)
		}
		for i, made := range timelines {
			got := made.From.UTC().Format(time.RFC3339Nano) + " " + made.Until.Sub(made.From).String()
			if got != tc.want[i] {
				t.Errorf("%s: %s is %s, want %s", name, made.Scaler.Name, got, tc.want[i])
			}
		}
	}
}
