package diff_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/cli/preview/diff"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/golden"
)

// change is one of each: a changed schedule, an unchanged one, a renamed one and an added one.
func change(t *testing.T) *diff.Difference {
	before := spec("America/New_York", window("weekdays", "09:00", "17:00", 10), window("all", "22:00", "06:00", 5))
	after := spec("America/New_York", window("weekdays", "10:30", "17:00", 10), window("all", "23:00", "06:00", 5))
	after.DefaultReplicas, after.Pause = intstr.FromInt32(3), true
	same, other := spec("UTC", window("weekdays", "09:00", "17:00", 10)), spec("UTC", window("all", "23:00", "02:00", 1))
	same.TargetRef.Name, other.TargetRef.Name = "api", "db"
	return diff.Compare(
		[]*timeline.Timeline{timelineOf(t, "web", before, 14), timelineOf(t, "same", same, 14), timelineOf(t, "old|<b>", other, 14)},
		[]*timeline.Timeline{timelineOf(t, "web", after, 14), timelineOf(t, "same", same, 14), timelineOf(t, "older", other, 14), timelineOf(t, "zero", same, 1)})
}

func written(t *testing.T, write func(io.Writer, *diff.Difference, diff.Options) error, d *diff.Difference, o diff.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out, d, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var fortnight = diff.Options{Days: 14, From: "2027-02-22"}

func TestText(t *testing.T) {
	golden.New(t, "text").Add("text", written(t, diff.Text, change(t), fortnight))
}

func TestColours(t *testing.T) {
	plain, coloured := written(t, diff.Text, change(t), fortnight), written(t, diff.Text, change(t), diff.Options{Days: 14, From: "2027-02-22", Colours: true})
	for _, code := range []string{"\x1b[32m", "\x1b[33m", "\x1b[0m"} {
		if !strings.Contains(coloured, code) {
			t.Errorf("no %q", code)
		}
		coloured = strings.ReplaceAll(coloured, code, "")
	}
	if diff := cmp.Diff(plain, coloured); diff != "" {
		t.Errorf("without its colours (-want +got):\n%s", diff)
	}
}

func TestMarkdown(t *testing.T) {
	golden.New(t, "markdown").Add("markdown", written(t, diff.Markdown, change(t), fortnight))
}

// A change without an effect is one line.
func TestNoChange(t *testing.T) {
	same := []*timeline.Timeline{timelineOf(t, "a", spec("UTC", window("all", "09:00", "17:00", 10)), 1)}
	d := diff.Compare(same, same)
	day := diff.Options{Days: 1, From: "2027-02-22"}
	want := golden.New(t, "unchanged")
	want.Add("text", written(t, diff.Text, d, day))
	want.Add("markdown", written(t, diff.Markdown, d, day))
	want.Add("nothing", written(t, diff.Text, diff.Compare(nil, nil), day))
}

// Nothing in a manifest becomes Markdown or HTML.
func TestMarkdownIsEscaped(t *testing.T) {
	evil := spec("UTC", window("all", "09:00", "17:00", 10))
	evil.TargetRef.Name = "</details>|**x**\n# y [z](http://z) @all"
	before := spec("UTC", window("all", "09:00", "17:00", 10))
	name := "`</code><script>"
	text := written(t, diff.Markdown, diff.Compare([]*timeline.Timeline{timelineOf(t, name, before, 1)}, []*timeline.Timeline{timelineOf(t, name, evil, 1)}), fortnight)
	if strings.Count(text, "</details>") != 1 || strings.Contains(text, "<script") || strings.Contains(text, "[z]") || strings.Contains(text, "@all") || strings.Contains(text, "\n# y") || strings.Contains(text, "**x") {
		t.Errorf("not escaped:\n%s", text)
	}
}

// The JSON is complete, and its numbers add up.
func TestJSON(t *testing.T) {
	d := change(t)
	text := written(t, func(w io.Writer, d *diff.Difference, _ diff.Options) error { return diff.JSON(w, d) }, d, fortnight)
	var got struct {
		Scalers []struct {
			Name, RenamedFrom, Change string
			ReplicasAtStart           struct{ Before, After *int32 }
			ReplicaHours              struct{ Before, After, Difference float64 }
			Transitions               []struct {
				Change        string
				MovedSeconds  int64
				Before, After *struct {
					Time, Local    time.Time
					From, To       int32
					Window, Reason string
				}
			}
			Settings []struct{ Field, Before, After string }
		}
		ReplicaHours struct{ Before, After, Difference float64 }
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	before, after := 0.0, 0.0
	for i, s := range got.Scalers {
		want := &d.Scalers[i]
		before, after = before+s.ReplicaHours.Before, after+s.ReplicaHours.After
		if s.Name != want.Now().Scaler.Name || s.Change != string(want.Kind) || len(s.Transitions) != len(want.Steps) || len(s.Settings) != len(want.Settings) {
			t.Errorf("%+v is not %+v", s, want)
		}
		for j, step := range s.Transitions {
			w := want.Steps[j]
			if (step.Before == nil) != (w.Before == nil) || (step.After == nil) != (w.After == nil) || step.MovedSeconds != int64(w.By()/time.Second) {
				t.Errorf("%+v is not %+v", step, w)
			}
			if step.After != nil && (!step.After.Time.Equal(w.After.Time) || !step.After.Local.Equal(w.After.Time) || step.After.To != w.After.To) {
				t.Errorf("%+v is not %+v", step.After, w.After)
			}
		}
	}
	if total := got.ReplicaHours; total.Before != before || total.After != after || total.Difference != after-before {
		t.Errorf("%+v in all, the scalers make %v and %v", total, before, after)
	}
	if got.Scalers[0].Name != "older" || got.Scalers[0].RenamedFrom != "old|<b>" || strings.Contains(text, "null,\n      \"timezone\"") {
		t.Errorf("%+v", got.Scalers[0])
	}
}
