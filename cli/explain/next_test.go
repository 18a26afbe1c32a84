package explain_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
)

// The next three changes are found however far ahead they are, up to a little more than a year; if there are fewer, the end of what
// was looked at is named.
func TestNext(t *testing.T) {
	always := scaler("UTC", window("", week, "00:00", "24:00", 10))
	always.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "days"}}
	rare := scaler("UTC", window("", week[:1], "09:00", "17:00", 10))
	for name, tc := range map[string]struct {
		tws      *v1beta1.TimeWindowScaler
		at       string
		holidays []string
		want     []string
	}{
		"every day": {scaler("UTC", window("", week, "09:00", "17:00", 10)), "2026-11-23T10:00:00Z", nil, []string{
			"Next changes of the count:",
			"Mon 2026-11-23 17:00 UTC  10 -> 2", "Tue 2026-11-24 09:00 UTC  2 -> 10", "Tue 2026-11-24 17:00 UTC  10 -> 2",
		}},
		"within the first stretch": {rare, "2026-11-23T10:00:00Z", nil, []string{
			"Next changes of the count:",
			"Mon 2026-11-23 17:00 UTC  10 -> 2", "Mon 2026-11-30 09:00 UTC  2 -> 10", "Mon 2026-11-30 17:00 UTC  10 -> 2",
		}},
		"beyond the first stretch": {rare, "2026-11-24T10:00:00Z", nil, []string{
			"Next changes of the count:",
			"Mon 2026-11-30 09:00 UTC  2 -> 10", "Mon 2026-11-30 17:00 UTC  10 -> 2", "Mon 2026-12-07 09:00 UTC  2 -> 10",
		}},
		"in half a year, and then no more": {always, "2026-11-23T10:00:00Z", []string{"2027-05-01"}, []string{
			"Next changes of the count:",
			"Sat 2027-05-01 00:00 UTC  10 -> 2", "Sun 2027-05-02 00:00 UTC  2 -> 10", "no other until Tue 2027-12-28 10:00 UTC",
		}},
		"never": {always, "2026-11-23T10:00:00Z", nil, []string{"The count does not change until Tue 2027-12-28 10:00 UTC at least."}},
	} {
		holidays := explain.Holidays{Dates: map[string]bool{}}
		for _, date := range tc.holidays {
			holidays.Dates[date] = true
		}
		e := explain.Explain(tc.tws, holidays, nil, instant(t, tc.at))
		var text strings.Builder
		if err := explain.Text(&text, e, false); err != nil {
			t.Fatal(err)
		}
		paragraphs := strings.Split(strings.TrimSpace(text.String()), "\n\n")
		var got []string
		for _, line := range strings.Split(paragraphs[len(paragraphs)-1], "\n") {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "  in ")
			got = append(got, line)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		for _, next := range e.Next.Transitions {
			if !next.Time.After(e.At) {
				t.Errorf("%s: %v is not ahead of %v", name, next.Time, e.At)
			}
		}
	}
}

// encoded is an explanation as a program reads it, each field as it was written.
func encoded(t *testing.T, e *explain.Explanation) map[string]json.RawMessage {
	t.Helper()
	var out bytes.Buffer
	if err := explain.JSON(&out, []*explain.Explanation{e}); err != nil {
		t.Fatal(err)
	}
	var document struct {
		Explanations []map[string]json.RawMessage `json:"explanations"`
	}
	if err := json.Unmarshal(out.Bytes(), &document); err != nil || len(document.Explanations) != 1 {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	return document.Explanations[0]
}

// Programs find lists always, and a count or bounds where there are some: 0 is a count.
func TestJSONHasWhatThereIs(t *testing.T) {
	none := scaler("UTC", window("", week, "09:00", "17:00", 0))
	broken := scaler("UTC", window("", week, "9:00", "17:00", 1))
	metric := scaler("UTC", window("", week, "09:00", "17:00", 3))
	metric.Spec.Windows[0].Metric = byQueue()
	for name, tc := range map[string]struct {
		tws  *v1beta1.TimeWindowScaler
		want map[string]string // "" is not there
	}{
		"no replicas":   {none, map[string]string{"replicas": "0", "minReplicas": "", "maxReplicas": "", "effectiveReplicas": ""}},
		"a metric":      {metric, map[string]string{"replicas": "3", "minReplicas": "1", "maxReplicas": "20", "decidedBy": `"Metric"`}},
		"a broken spec": {broken, map[string]string{"replicas": "", "windows": "[]", "facts": "[]", "next": "[]", "window": "", "decidedBy": `"Nothing"`}},
		"whose it is":   {none, map[string]string{"timezone": `"UTC"`, "namespace": `"shop"`, "name": `"web"`}},
	} {
		got := encoded(t, explain.Explain(tc.tws, explain.Holidays{}, nil, instant(t, ten)))
		for field, want := range tc.want {
			if string(got[field]) != want {
				t.Errorf("%s: %s is %s, want %q", name, field, got[field], want)
			}
		}
	}
}
