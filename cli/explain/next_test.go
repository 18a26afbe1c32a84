package explain_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
	"kyklos.io/kyklos/internal/golden"
)

// The next three changes are found within a little more than a year. If there are fewer, the end of the search is named.
func TestNext(t *testing.T) {
	always := scaler("UTC", window("", week, "00:00", "24:00", 10))
	always.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "days"}}
	rare := scaler("UTC", window("", week[:1], "09:00", "17:00", 10))
	want := golden.New(t, "next")
	for name, tc := range map[string]struct {
		tws      *v1beta1.TimeWindowScaler
		at       string
		holidays []string
	}{
		"every day":               {scaler("UTC", window("", week, "09:00", "17:00", 10)), "2026-11-23T10:00:00Z", nil},
		"within the first period": {rare, "2026-11-23T10:00:00Z", nil},
		"beyond the first period": {rare, "2026-11-24T10:00:00Z", nil},
		"two in half a year":      {always, "2026-11-23T10:00:00Z", []string{"2027-05-01"}},
		"never":                   {always, "2026-11-23T10:00:00Z", nil},
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
		want.Add(name, paragraphs[len(paragraphs)-1])
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

// Lists are never null, and missing counts are left out: 0 is a count.
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
