package timeline_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/golden"
)

func window(start, end string, replicas int32) v1beta1.Window {
	return v1beta1.Window{Days: days, Start: start, End: end, Replicas: intstr.FromInt32(replicas)}
}

func in(zone string, w v1beta1.Window) v1beta1.Window {
	w.Timezone = zone
	return w
}

func named(name string, w v1beta1.Window) v1beta1.Window {
	w.Name = name
	return w
}

func scaler(t *testing.T, zone string, windows ...v1beta1.Window) *timeline.Scaler {
	t.Helper()
	s, _ := read(t, &v1beta1.TimeWindowScalerSpec{Timezone: zone, DefaultReplicas: intstr.FromInt32(2), Windows: windows}, nil)
	return s
}

func instant(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// transitions are lines with the time of day, the counts, the reason and its text.
func transitions(made *timeline.Timeline) (lines []string) {
	for _, tr := range made.Transitions {
		lines = append(lines, fmt.Sprintf("%s %d>%d %s: %s", tr.Time.Format("15:04"), tr.From, tr.To, tr.Reason, made.Why(tr)))
	}
	return lines
}

// In Berlin the clocks skip from 02:00 to 03:00 on 28 March 2027, and repeat from 03:00 to 02:00 on 31 October.
func TestReasonsInNightsOfClockChanges(t *testing.T) {
	const spring, autumn = "2027-03-28T00:00:00+01:00", "2027-10-31T00:00:00+02:00"
	want := golden.New(t, "clock-changes")
	for name, tc := range map[string]struct {
		from    string
		windows []v1beta1.Window
	}{
		"an end that is skipped":       {spring, []v1beta1.Window{named("w", window("01:00", "02:30", 9))}},
		"a start that is skipped":      {spring, []v1beta1.Window{named("w", window("02:30", "05:00", 9))}},
		"an end when the clock leaves": {spring, []v1beta1.Window{named("w", window("01:00", "02:00", 9))}},
		"a start when the clock arrives, above another window": {
			spring, []v1beta1.Window{named("under", window("01:00", "05:00", 5)), named("w", window("03:00", "04:00", 9))},
		},
		"a start that is repeated": {autumn, []v1beta1.Window{named("w", window("02:30", "05:00", 9))}},
		"windows without names":    {spring, []v1beta1.Window{window("01:00", "05:00", 5), window("03:30", "04:00", 9)}},
		"a skipped start in another zone": {
			"2026-03-08T07:00:00+01:00", []v1beta1.Window{in("America/New_York", named("w", window("02:30", "05:00", 9)))},
		},
	} {
		from := instant(t, tc.from)
		want.Add(name, transitions(timeline.Compute(scaler(t, "Europe/Berlin", tc.windows...), from, from.Add(12*time.Hour)))...)
	}
}

// A closed holiday begins and ends inside of night windows; a window that would have begun at its midnight does not.
func TestReasonsOnHolidays(t *testing.T) {
	want := golden.New(t, "holidays")
	for _, mode := range []v1beta1.HolidayMode{v1beta1.HolidayClosed, v1beta1.HolidayOpen, v1beta1.HolidayIgnore} {
		spec := &v1beta1.TimeWindowScalerSpec{
			Timezone: "Europe/Berlin", DefaultReplicas: intstr.FromInt32(2), Windows: []v1beta1.Window{named("nights", window("22:00", "06:00", 8))},
			Holidays: &v1beta1.Holidays{Mode: mode, SourceRef: &v1beta1.HolidaySource{Name: "h"}},
		}
		s, _ := read(t, spec, []string{"2026-12-25", "2026-12-26"})
		made := timeline.Compute(s, instant(t, "2026-12-24T12:00:00+01:00"), instant(t, "2026-12-27T12:00:00+01:00"))
		want.Add(string(mode), transitions(made)...)
	}
}

// A grace period begins with the first decrease, and is cancelled when the schedule asks for as many again.
func TestGraceUntil(t *testing.T) {
	for name, tc := range map[string]struct {
		grace   int32
		windows []v1beta1.Window
		want    []string
	}{
		"none":  {0, []v1beta1.Window{window("09:00", "17:00", 9)}, []string{"09:00 2>9", "17:00 9>2"}},
		"plain": {90, []v1beta1.Window{window("09:00", "17:00", 9)}, []string{"09:00 2>9", "17:00 9>2, 9 until 17:01:30"}},
		"a further decrease does not prolong it": {
			3600, []v1beta1.Window{window("09:00", "17:00", 9), window("17:00", "17:30", 5)},
			[]string{"09:00 2>9", "17:00 9>5, 9 until 18:00:00", "17:30 5>2, 9 until 18:00:00"},
		},
		"a further decrease as it ends is due at once": {
			3600, []v1beta1.Window{window("09:00", "17:00", 9), window("17:00", "18:00", 5)},
			[]string{"09:00 2>9", "17:00 9>5, 9 until 18:00:00", "18:00 5>2"},
		},
		"a rise to less does not end it": {
			3600, []v1beta1.Window{window("09:00", "17:00", 9), window("17:30", "20:00", 5)},
			[]string{"09:00 2>9", "17:00 9>2, 9 until 18:00:00", "17:30 2>5, 9 until 18:00:00", "20:00 5>2, 5 until 21:00:00"},
		},
		"as many ends it": {
			3600, []v1beta1.Window{window("09:00", "17:00", 9), window("17:30", "20:00", 10)},
			[]string{"09:00 2>9", "17:00 9>2, 9 until 17:30:00", "17:30 2>10", "20:00 10>2, 10 until 21:00:00"},
		},
	} {
		s := scaler(t, "UTC", tc.windows...)
		s.Spec.GracePeriodSeconds = tc.grace
		var got []string
		for _, tr := range timeline.Compute(s, instant(t, "2026-06-10T00:00:00Z"), instant(t, "2026-06-11T00:00:00Z")).Transitions {
			line := fmt.Sprintf("%s %d>%d", tr.Time.Format("15:04"), tr.From, tr.To)
			if !tr.GraceUntil.IsZero() {
				line += fmt.Sprintf(", %d until %s", tr.Kept, tr.GraceUntil.Format(time.TimeOnly))
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// Where the timeline ends changes nothing before that: a grace period is cancelled by a window that begins later, too.
func TestGraceUntilBeyondTheEnd(t *testing.T) {
	s := scaler(t, "UTC", window("09:00", "17:00", 5))
	s.Spec.GracePeriodSeconds = 86400
	from := instant(t, "2026-11-23T00:00:00Z")
	for until, want := range map[string]string{
		"2026-11-24T17:00:01Z": "2026-11-25T09:00:00Z", "2026-11-25T00:00:00Z": "2026-11-25T09:00:00Z",
		"2026-11-25T09:00:00Z": "2026-11-25T09:00:00Z", "2026-11-26T00:00:00Z": "2026-11-26T09:00:00Z",
	} {
		made := timeline.Compute(s, from, instant(t, until)).Transitions
		if got := made[len(made)-1].GraceUntil.Format(time.RFC3339); got != want {
			t.Fatalf("until %s: kept until %s, want %s", until, got, want)
		}
	}
	whole := timeline.Compute(s, from, from.AddDate(0, 0, 9)).Transitions
	rapid.Check(t, func(t *rapid.T) {
		part := timeline.Compute(s, from, from.Add(time.Duration(rapid.IntRange(1, 7*86400).Draw(t, "seconds"))*time.Second)).Transitions
		if diff := cmp.Diff(whole[:len(part)], part, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-whole +part)\n%s", diff)
		}
	})
}

// A Workspace runs once, whatever count above 0 a window has: from one such window to another nothing changes.
func TestAWorkspaceIsOne(t *testing.T) {
	s := scaler(t, "UTC", window("09:00", "12:00", 9), window("12:00", "17:00", 5))
	s.Calendar.DefaultReplicas = 0
	s.Spec.TargetRef.APIVersion, s.Spec.TargetRef.Kind = "kyklos.io/v1alpha1", "Workspace"
	made := timeline.Compute(s, instant(t, "2026-06-10T00:00:00Z"), instant(t, "2026-06-11T00:00:00Z"))
	var got []string
	for _, tr := range made.Transitions {
		got = append(got, fmt.Sprintf("%s %d>%d", tr.Time.Format("15:04"), tr.From, tr.To))
	}
	if diff := cmp.Diff([]string{"09:00 0>1", "17:00 1>0"}, got); diff != "" || made.Seconds != 8*3600 || made.Highest != 1 {
		t.Errorf("%d s, %d at most (-want +got)\n%s", made.Seconds, made.Highest, diff)
	}
}

// Fractions of seconds are dropped, and a period may be empty.
func TestPeriods(t *testing.T) {
	s := scaler(t, "UTC", window("09:00", "17:00", 9))
	made := timeline.Compute(s, instant(t, "2026-06-10T16:59:59.9Z"), instant(t, "2026-06-10T17:00:01.9Z"))
	if made.Seconds != 9+2 || made.AlwaysHighest() != 18 || len(made.Transitions) != 1 || len(made.Days) != 1 {
		t.Errorf("two seconds around 17:00: %+v", made)
	}
	until := timeline.Compute(s, instant(t, "2026-06-10T16:00:00Z"), instant(t, "2026-06-10T17:00:00Z"))
	if len(until.Transitions) != 0 {
		t.Errorf("until a boundary: %v, which is outside", until.Transitions)
	}
	from := timeline.Compute(s, instant(t, "2026-06-10T17:00:00Z"), instant(t, "2026-06-10T18:00:00Z"))
	if len(from.Transitions) != 0 || from.Segments[0].Replicas != 2 {
		t.Errorf("from a boundary: %v %v, which is before", from.Transitions, from.Segments)
	}
	if empty := timeline.Compute(s, until.Until, until.Until); len(empty.Segments)+len(empty.Days) != 0 || empty.Seconds != 0 {
		t.Errorf("nothing: %+v", empty)
	}
}

// A leap year ends without a clock change where the zone's rule alone applies (timecalc.ZoneEnd).
func TestTheEndOfALeapYear(t *testing.T) {
	made := timeline.Compute(scaler(t, "America/New_York", window("09:00", "17:00", 9)), instant(t, "2040-12-01T05:00:00Z"), instant(t, "2041-01-05T05:00:00Z"))
	if len(made.Transitions) != 2*len(made.Days) || len(made.Days) != 35 || len(made.Changes) != 0 {
		t.Errorf("%d transitions on %d days, changes %v", len(made.Transitions), len(made.Days), made.Changes)
	}
}

// Clock changes of the schedule's zone are apart from others; one at the first instant counts, one at the end does not.
func TestChanges(t *testing.T) {
	s := scaler(t, "Africa/Cairo", in("America/New_York", window("09:00", "17:00", 9)), in("America/New_York", window("10:00", "12:00", 9)))
	night := instant(t, "2026-04-23T22:00:00Z") // Cairo skips from 00:00 to 01:00
	made := timeline.Compute(s, night, instant(t, "2026-11-01T06:00:00Z"))
	var got []string
	for _, c := range append(made.Changes, made.Abroad...) {
		got = append(got, c.Time.Format(time.RFC3339)+" "+c.Amount().String()+" "+made.ClockText(c))
	}
	want := []string{
		"2026-04-24T01:00:00+03:00 1h0m0s clock goes forward from 00:00 to 01:00",
		"2026-10-29T23:00:00+02:00 -1h0m0s clock goes back from 2026-10-30 00:00 to 2026-10-29 23:00",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if made.Days[0].Change == nil || made.Days[1].Change != nil {
		t.Error("the first day, which has no first hour, is not marked, or the second one is")
	}
	later := timeline.Compute(s, night, instant(t, "2026-11-01T06:00:01Z"))
	if len(later.Abroad) != 1 || later.Abroad[0].Time.Location().String() != "America/New_York" {
		t.Errorf("abroad %v, want the change of New York, once for both windows", later.Abroad)
	}
}
