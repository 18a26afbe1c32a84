package source_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/source"
)

// set reads manifests from text.
func set(t *testing.T, text string) *manifest.Set {
	t.Helper()
	read, err := manifest.Read([]string{manifest.Stdin}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

const closing = `
apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: closing, namespace: stores}
spec:
  targetRef: {kind: Deployment, name: shop}
  timezone: Europe/Berlin
  defaultReplicas: 1
  windows:
  - {days: [Mon], start: "09:00", end: "17:00", replicas: 5}
  holidays: {mode: treat-as-closed, sourceRef: {name: days-off}}
`

const daysOff = `
apiVersion: v1
kind: ConfigMap
metadata: {name: days-off, namespace: stores}
data: {"2026-12-25": "", "no date": ""}
binaryData: {"2026-12-26": AAEC}
`

const old = `
apiVersion: kyklos.io/v1alpha1
kind: TimeWindowScaler
metadata: {name: old}
spec:
  targetRef: {kind: StatefulSet, name: db}
  timezone: UTC
  defaultReplicas: 1
  windows:
  - {days: [Mon], start: "09:00", end: "17:00", replicas: 5}
`

const foreign = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n"

func documents(parts ...string) string { return strings.Join(parts, "---\n") }

func dates(s *source.Scaler) []string { return slices.Sorted(maps.Keys(s.Calendar.Holidays)) }

// Schedules of both versions, in the order of the files, with the holidays of the ConfigMaps among them.
func TestFromManifests(t *testing.T) {
	scalers, problems := source.FromManifests(set(t, documents(foreign, closing, old, daysOff)), "here", nil)
	if len(problems) > 0 || len(scalers) != 2 {
		t.Fatalf("%d schedules, problems %v", len(scalers), problems)
	}
	first, second := scalers[0], scalers[1]
	if got := first.Key().String() + " " + second.Key().String(); got != "stores/closing here/old" {
		t.Errorf("found %s", got)
	}
	if diff := cmp.Diff([]string{"2026-12-25", "2026-12-26"}, dates(first)); diff != "" || first.HolidaysMissing {
		t.Errorf("holidays (-want +got), missing %t\n%s", first.HolidaysMissing, diff)
	}
	if second.Spec.TargetRef.APIVersion != "apps/v1" || second.Source.Line != first.Source.Line+12 || second.State != nil {
		t.Errorf("target %+v, line %d after %d, state %v", second.Spec.TargetRef, second.Source.Line, first.Source.Line, second.State)
	}
}

// Holidays that are given hold for schedules that follow any, whatever the files say; those that are nowhere are missing.
func TestHolidaysOfManifests(t *testing.T) {
	for name, tc := range map[string]struct {
		documents []string
		given     []string
		want      []string
		missing   bool
	}{
		"of the files":            {[]string{closing, daysOff}, nil, []string{"2026-12-25", "2026-12-26"}, false},
		"given":                   {[]string{closing, daysOff}, []string{"2027-01-01"}, []string{"2027-01-01"}, false},
		"none given":              {[]string{closing, daysOff}, []string{}, nil, false},
		"nowhere":                 {[]string{closing}, nil, nil, true},
		"of another namespace":    {[]string{closing, strings.Replace(daysOff, "stores", "elsewhere", 1)}, nil, nil, true},
		"not followed, nor given": {[]string{old}, []string{"2027-01-01"}, nil, false},
	} {
		scalers, problems := source.FromManifests(set(t, documents(tc.documents...)), "here", tc.given)
		if len(problems) > 0 || len(scalers) != 1 {
			t.Errorf("%s: %d schedules, problems %v", name, len(scalers), problems)
			continue
		}
		if diff := cmp.Diff(tc.want, dates(scalers[0])); diff != "" || scalers[0].HolidaysMissing != tc.missing {
			t.Errorf("%s: missing %t, dates (-want +got)\n%s", name, scalers[0].HolidaysMissing, diff)
		}
	}
}

// An error names the place, the wrong field and the right form; the other objects are still read.
func TestProblems(t *testing.T) {
	for name, tc := range map[string]struct{ from, to, want string }{
		"a zone":       {"Europe/Berlin", "Mars/Olympus", `-:7: TimeWindowScaler closing: spec.timezone: Invalid value: "Mars/Olympus": unknown time zone "Mars/Olympus": use an IANA name such as Europe/Berlin or UTC`},
		"a time":       {`"17:00"`, `"25:00"`, `-:10: TimeWindowScaler closing: spec.windows[0].end: Invalid value: "25:00": "25:00" is not a time of day: use HH:MM from 00:00 to 24:00, such as 17:00`},
		"a number":     {"defaultReplicas: 1", "defaultReplicas: {}", `-:8: TimeWindowScaler closing: spec.defaultReplicas: must be a whole number, not an object`},
		"no dash":      {`  - {days: [Mon], start: "09:00", end: "17:00", replicas: 5}`, "    days: [Mon]", `-:9: TimeWindowScaler closing: spec.windows: must be a list: begin each window with "- "`},
		"a text":       {"[Mon]", "Mon", `-:10: TimeWindowScaler closing: spec.windows[0].days: must be a list: write [ ] around it`},
		"a window":     {`replicas: 5}`, "replicas: 5}\n  - {days: [Tue], start: 900, end: \"17:00\", replicas: 5}", `-:11: TimeWindowScaler closing: spec.windows[1].start: must be a string: write "900"`},
		"a label":      {"name: closing", "name: closing, labels: {team: 42}", `-:4: TimeWindowScaler closing: metadata.labels[team]: must be a string: write "42"`},
		"a version":    {"kyklos.io/v1beta1", "kyklos.io/v1", `-:2: TimeWindowScaler closing: apiVersion: kyklos.io has no version v1: use kyklos.io/v1beta1`},
		"a kind":       {"TimeWindowScaler", "Timewindowscaler", `-:3: TimeWindowScaler closing: kind: kyklos.io has no kind Timewindowscaler: use TimeWindowScaler`},
		"a name":       {"name: closing", `name: "clo\e[31msing"`, `-:4: TimeWindowScaler clo\x1b[31msing: metadata.name: Invalid value: "clo\x1b[31msing": has characters that cannot be shown`},
		"a target":     {"name: shop", `name: "a\nb"`, `-:6: TimeWindowScaler closing: spec.targetRef.name: Invalid value: "a\nb": has characters that cannot be shown`},
		"two mistakes": {"Mon], start: \"09:00\"", "Moon], start: \"9\"", "-:10: TimeWindowScaler closing: spec.windows[0].days[0]: Invalid value: [\"Moon\"]: \"Moon\" is not a day: use Mon, Tue, Wed, Thu, Fri, Sat or Sun; spec.windows[0].start: "},
	} {
		scalers, problems := source.FromManifests(set(t, documents(strings.Replace(closing, tc.from, tc.to, 1), old)), "here", nil)
		if len(scalers) != 1 || len(problems) != 1 {
			t.Errorf("%s: %d schedules, problems %v", name, len(scalers), problems)
			continue
		}
		if got := problems[0].Error(); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
	}
}

func TestHolidayDates(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
		err  string
	}{
		"a ConfigMap":  {daysOff, []string{"2026-12-25", "2026-12-26", "no date"}, ""},
		"among others": {documents(foreign, daysOff), []string{"2026-12-25", "2026-12-26", "no date"}, ""},
		"an empty one": {"apiVersion: v1\nkind: ConfigMap\n", []string{}, ""},
		"a text":       {"# days off\n2026-12-25 Christmas Day\r\n\n  2027-01-01\n", []string{"2026-12-25", "2027-01-01"}, ""},
		"nothing":      {"", []string{}, ""},
		"no date":      {"2026-12-25\n25.12.2026\n", nil, `days:2: "25.12.2026" is not a date: give a ConfigMap, or a text file with a date such as 2026-12-25 on each line`},
		"no such date": {"2026-02-30\n", nil, `days:1: "2026-02-30" is not a date`},
		"values that are no text": {"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: free}\ndata: {2026-12-25: yes}\n", nil,
			"days:2: ConfigMap free is invalid: each value of data must be a string"},
		"binary values that are no base64": {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: free}\nbinaryData: {2026-12-25: '?'}\n", nil,
			"days:1: ConfigMap free is invalid: each value of data must be a string, and of binaryData base64"},
		"another thing": {foreign, nil, `days:1: "apiVersion:" is not a date`},
	} {
		got, err := source.HolidayDates(&manifest.File{Name: "days", Data: []byte(tc.text)})
		if tc.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), tc.err) {
				t.Errorf("%s: error %v, want %s", name, err, tc.err)
			}
			continue
		}
		slices.Sort(got)
		if diff := cmp.Diff(tc.want, got); diff != "" || err != nil || got == nil {
			t.Errorf("%s: %v, nil %t (-want +got)\n%s", name, err, got == nil, diff)
		}
	}
}
