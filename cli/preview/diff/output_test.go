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
)

// change is one of each: a schedule that changes, one that stays, one with another name, and one that comes.
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
	want := `4 schedules: 2 changed, 1 added, 1 unchanged
3590.0 -> 3713.0 replica-hours (+123.0, +3.4%), in 14 days from 2027-02-22

shop/older (was old|<b>): changed, 630.0 replica-hours, as before; times in UTC
  no change of the counts in these days

shop/web: changed, 1648.0 -> 1659.0 replica-hours (+11.0, +0.7%); times in America/New_York
  pause: false -> true
  replicas at the beginning: 2 -> 3
  1 h later          daily 22:00 -> 23:00     2 -> 5, now 3 -> 5     daily 23:00-06:00   14 times, 2027-02-21 to 2027-03-06
  changed            daily 06:00              5 -> 2, now 5 -> 3     OffHours            14 times, 2027-02-22 to 2027-03-07
  1 h 30 min later   Mon-Fri 09:00 -> 10:30   2 -> 10, now 3 -> 10   BusinessHours       10 times, 2027-02-22 to 2027-03-05
  changed            Mon-Fri 17:00            10 -> 2, now 10 -> 3   OffHours            10 times, 2027-02-22 to 2027-03-05

shop/zero: added, 112.0 replica-hours; times in UTC
  added   Mon 09:00   2 -> 10   BusinessHours   2027-02-22
  added   Mon 17:00   10 -> 2   OffHours        2027-02-22
`
	if diff := cmp.Diff(want, written(t, diff.Text, change(t), fortnight)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
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
	want := `**4 schedules: 2 changed, 1 added, 1 unchanged**: 3590.0 → 3713.0 replica-hours (+123.0, +3.4%), in 14 days from 2027-02-22

<details>
<summary><code>shop/older (was old&#124;&#60;b&#62;)</code>: changed, 630.0 replica-hours, as before</summary>

- no change of the counts in these days

</details>

<details>
<summary><code>shop/web</code>: changed, 1648.0 → 1659.0 replica-hours (+11.0, +0.7%)</summary>

- pause: false → true
- replicas at the beginning: 2 → 3

| Change | When (America/New&#95;York) | Replicas | Window | How often |
|---|---|---|---|---|
| 1 h later | daily 22:00 → 23:00 | 2 → 5, now 3 → 5 | daily 23:00-06:00 | 14 times, 2027-02-21 to 2027-03-06 |
| changed | daily 06:00 | 5 → 2, now 5 → 3 | OffHours | 14 times, 2027-02-22 to 2027-03-07 |
| 1 h 30 min later | Mon-Fri 09:00 → 10:30 | 2 → 10, now 3 → 10 | BusinessHours | 10 times, 2027-02-22 to 2027-03-05 |
| changed | Mon-Fri 17:00 | 10 → 2, now 10 → 3 | OffHours | 10 times, 2027-02-22 to 2027-03-05 |

</details>

<details>
<summary><code>shop/zero</code>: added, 112.0 replica-hours</summary>

| Change | When (UTC) | Replicas | Window | How often |
|---|---|---|---|---|
| added | Mon 09:00 | 2 → 10 | BusinessHours | 2027-02-22 |
| added | Mon 17:00 | 10 → 2 | OffHours | 2027-02-22 |

</details>
`
	if diff := cmp.Diff(want, written(t, diff.Markdown, change(t), fortnight)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A change that does nothing is one line, wherever it is written.
func TestNoChange(t *testing.T) {
	same := []*timeline.Timeline{timelineOf(t, "a", spec("UTC", window("all", "09:00", "17:00", 10)), 1)}
	d := diff.Compare(same, same)
	day := diff.Options{Days: 1, From: "2027-02-22"}
	for want, write := range map[string]func(io.Writer, *diff.Difference, diff.Options) error{
		"1 schedule: unchanged\n112.0 replica-hours, as before, in 1 day from 2027-02-22\n":                diff.Text,
		"**No schedule changes what it does**: 112.0 replica-hours, as before, in 1 day from 2027-02-22\n": diff.Markdown,
	} {
		if diff := cmp.Diff(want, written(t, write, d, day)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if got := written(t, diff.Text, diff.Compare(nil, nil), day); !strings.HasPrefix(got, "No schedules on either side\n") {
		t.Error(got)
	}
}

// Nothing that stands in a manifest becomes Markdown or HTML.
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

// The JSON says all that the difference does, and numbers add up.
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
