package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
)

var week = []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

func window(name string, days []v1beta1.Weekday, start, end string, replicas int32) v1beta1.Window {
	return v1beta1.Window{Name: name, Days: days, Start: start, End: end, Replicas: intstr.FromInt32(replicas)}
}

func scaler(zone string, windows ...v1beta1.Window) *v1beta1.TimeWindowScaler {
	tws := &v1beta1.TimeWindowScaler{}
	tws.Namespace, tws.Name = "shop", "web"
	tws.Spec = v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "site"},
		Timezone:  zone, DefaultReplicas: intstr.FromInt32(2), Windows: windows,
	}
	return tws
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// In Berlin the clocks skip from 02:00 to 03:00 on 29 March 2026, a Sunday, and repeat that hour on 25 October.
func TestWindows(t *testing.T) {
	office := window("office", week[:5], "09:00", "17:00", 10)
	abroad := window("tokyo", week[:5], "09:00", "17:00", 4)
	abroad.Timezone = "Asia/Tokyo"
	for name, tc := range map[string]struct {
		windows []v1beta1.Window
		at      string
		want    []string
	}{
		"one that decides": {
			[]v1beta1.Window{office}, "2026-11-23T09:00:00+01:00",
			[]string{"Decides: decides: covers it from 09:00 (just now) to 17:00 (in 8 h)"},
		},
		"its end": {
			[]v1beta1.Window{office}, "2026-11-23T17:00:00+01:00",
			[]string{"Ended: ended at 17:00, just now; next Tue 09:00, in 16 h"},
		},
		"before it": {
			[]v1beta1.Window{office}, "2026-11-23T08:59:30+01:00",
			[]string{"NotYet: not yet: begins at 09:00, in 30 s"},
		},
		"another day": {
			[]v1beta1.Window{office}, "2026-11-21T12:00:00+01:00",
			[]string{"NotToday: not today, Saturday: begins on Mon-Fri only; next Mon 09:00, in 45 h"},
		},
		"another week": {
			[]v1beta1.Window{window("", week[5:6], "10:00", "12:00", 1)}, "2026-11-21T15:20:00+01:00",
			[]string{"Ended: ended at 12:00, 3 h 20 min ago; next Sat 2026-11-28 10:00, in 6 d 18 h"},
		},
		"a later one wins": {
			[]v1beta1.Window{office, window("lunch", week, "12:00", "14:00", 20), window("evening", week, "16:00", "20:00", 5)}, "2026-11-23T12:30:00+01:00",
			[]string{
				"Outranked: covers it too, from 09:00 (3 h 30 min ago) to 17:00 (in 4 h 30 min), but window 2 comes later in the list",
				"Decides: decides: covers it from 12:00 (30 min ago) to 14:00 (in 1 h 30 min)",
				"NotYet: not yet: begins at 16:00, in 3 h 30 min",
			},
		},
		"a night after midnight": {
			[]v1beta1.Window{window("", week, "22:00", "06:00", 8)}, "2026-11-24T02:00:00+01:00",
			[]string{"Decides: decides: covers it from Mon 22:00 (4 h ago) to 06:00 (in 4 h), across midnight: this is Monday's window"},
		},
		"between two nights": {
			[]v1beta1.Window{window("", week, "22:00", "06:00", 8)}, "2026-11-24T12:00:00+01:00",
			[]string{"Ended: ended at 06:00, 6 h ago; next 22:00, in 10 h"},
		},
		"always": {
			[]v1beta1.Window{window("", week, "00:00", "24:00", 8)}, "2026-11-24T12:00:00+01:00",
			[]string{"Decides: decides: covers it at all times"},
		},
		"abroad": {
			[]v1beta1.Window{abroad}, "2026-11-24T23:30:00+01:00",
			[]string{"NotYet: not yet: begins at 09:00, in 1 h 30 min; it is Wed 07:30 there"},
		},
		"skipped at its start": {
			[]v1beta1.Window{window("", week, "02:30", "05:00", 8)}, "2026-03-29T03:30:00+02:00",
			[]string{"Decides: decides: covers it from 03:00 (30 min ago) to 05:00 (in 1 h 30 min)",
				"on 2026-03-29 the clock skips 02:30, its start, which comes at 03:00 CEST instead"},
		},
		"skipped wholly": {
			[]v1beta1.Window{window("", week, "02:10", "02:50", 8)}, "2026-03-29T12:00:00+02:00",
			[]string{"Skipped: not today: the clock skips all of it; next Mon 02:10, in 14 h 10 min"},
		},
		"to be skipped wholly": {
			[]v1beta1.Window{window("", week, "02:10", "02:50", 8)}, "2026-03-29T01:00:00+01:00",
			[]string{"Skipped: not today: the clock skips all of it; next Mon 02:10, in 24 h 10 min"},
		},
		"interrupted by a clock that is put back": {
			[]v1beta1.Window{window("", week, "02:30", "05:00", 8)}, "2026-10-25T02:10:00+01:00",
			[]string{"Ended: ended at 02:00, 10 min ago; next 02:30, in 20 min",
				"on 2026-10-25 the clock shows 02:30, its start, twice: at 02:30 CEST and at 02:30 CET, and it counts both times"},
		},
	} {
		e := explain.Explain(scaler("Europe/Berlin", tc.windows...), explain.Holidays{}, nil, instant(t, tc.at))
		var got []string
		for _, w := range e.Windows {
			got = append(append(got, string(w.State)+": "+w.Why), w.Notes...)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAnswers(t *testing.T) {
	office := scaler("Asia/Kolkata", window("", week[:5], "09:00", "17:00", 10))
	with := func(change func(*v1beta1.TimeWindowScaler)) *v1beta1.TimeWindowScaler {
		tws := office.DeepCopy()
		change(tws)
		return tws
	}
	closed := with(func(tws *v1beta1.TimeWindowScaler) {
		tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "days"}}
	})
	open := closed.DeepCopy()
	open.Spec.Holidays.Mode = v1beta1.HolidayOpen
	listed := explain.Holidays{Dates: map[string]bool{"2026-11-23": true}}
	const begin = "At Mon 2026-11-23 10:00 IST (04:30 UTC) web "
	for name, tc := range map[string]struct {
		tws      *v1beta1.TimeWindowScaler
		holidays explain.Holidays
		decider  explain.Decider
		want     string
	}{
		"a window": {office, listed, explain.ByWindow, "asks for 10 replicas: window BusinessHours (Mon-Fri 09:00-17:00) covers it."},
		"a window without a name": {
			with(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.Windows[0].End = "11:00" }), explain.Holidays{}, explain.ByWindow,
			"asks for 10 replicas: window Mon-Fri 09:00-11:00 covers it.",
		},
		"two windows": {
			with(func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.Windows = append(tws.Spec.Windows, window("rush", week, "10:00", "11:00", 1))
			}), explain.Holidays{}, explain.ByWindow,
			"asks for 1 replica: of the 2 windows that cover it the last in the list decides, rush (daily 10:00-11:00).",
		},
		"the default": {
			with(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.Windows[0].Start = "11:00" }), explain.Holidays{}, explain.ByDefault,
			"asks for 2 replicas: no window covers it, so defaultReplicas apply.",
		},
		"a closed holiday": {closed, listed, explain.ByHoliday, "asks for 2 replicas: 2026-11-23 is a holiday, and treat-as-closed means defaultReplicas all day."},
		"an open holiday":  {open, listed, explain.ByHoliday, "asks for 10 replicas: 2026-11-23 is a holiday, and treat-as-open means the highest count of all windows all day."},
		"no holiday":       {closed, explain.Holidays{}, explain.ByWindow, "asks for 10 replicas: window BusinessHours (Mon-Fri 09:00-17:00) covers it."},
		"a metric": {
			with(func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.Windows[0].Metric = &v1beta1.WindowMetric{
					Name: "queue_depth", MaxReplicas: 20, MinReplicas: ptr.To[int32](4),
					Target: v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "30"},
				}
			}), explain.Holidays{}, explain.ByMetric,
			"asks for 4 to 20 replicas, as the metric queue_depth says, and for 10 while that has no value: window BusinessHours (Mon-Fri 09:00-17:00) covers it.",
		},
		"a Workspace": {
			with(func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
			}), explain.Holidays{}, explain.ByWindow,
			"asks for RUNNING: window BusinessHours (Mon-Fri 09:00-17:00) covers it.",
		},
		"a DaemonSet": {
			with(func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.TargetRef.Kind, tws.Spec.Windows[0].Replicas = "DaemonSet", intstr.FromInt32(0)
			}), explain.Holidays{}, explain.ByWindow,
			"asks for 0 (to be suspended): window BusinessHours (Mon-Fri 09:00-17:00) covers it.",
		},
	} {
		e := explain.Explain(tc.tws, tc.holidays, nil, instant(t, "2026-11-23T04:30:00Z"))
		if e.Answer != begin+tc.want || e.Decider != tc.decider {
			t.Errorf("%s, by %s:\n%s\nwant\n%s", name, e.Decider, e.Answer, begin+tc.want)
		}
	}
}

// What admission would refuse can be stored all the same, and is explained as the controller treats it (B5).
func TestSpecsThatCannotBeFollowed(t *testing.T) {
	at := instant(t, "2026-11-23T09:30:00Z")
	unknown := scaler("Mars/Olympus_Mons", window("", week, "09:00", "17:00", 10))
	e := explain.Explain(unknown, explain.Holidays{}, nil, at)
	if want := "At Mon 2026-11-23 09:30 UTC web asks for 2 replicas: the time zone Mars/Olympus_Mons is not known here, so defaultReplicas apply."; e.Answer != want || e.Decider != explain.ByZone {
		t.Errorf("%s: %s", e.Decider, e.Answer)
	}
	left := scaler("UTC", window("a", week, "09:00", "17:00", 10), window("b", week, "09:00", "17:00", 20))
	left.Spec.Windows[1].Timezone = "Mars/Olympus_Mons"
	e = explain.Explain(left, explain.Holidays{}, nil, at)
	if *e.Replicas != 10 || e.Windows[1].State != explain.LeftOut || !strings.Contains(e.Windows[1].Why, "Mars/Olympus_Mons") {
		t.Errorf("%d: %+v", *e.Replicas, e.Windows)
	}
	broken := scaler("UTC", window("a", week, "9:00", "17:00", 10))
	e = explain.Explain(broken, explain.Holidays{}, nil, at)
	if e.Decider != explain.ByNothing || e.Replicas != nil || !strings.Contains(e.Answer, "asks for nothing") || !strings.Contains(e.Answer, "spec.windows[0].start") {
		t.Errorf("%s: %s", e.Decider, e.Answer)
	}
	foreign := scaler("UTC", window("a", week, "09:00", "17:00", 10))
	foreign.Spec.TargetRef.Namespace = "elsewhere"
	if e = explain.Explain(foreign, explain.Holidays{}, nil, at); e.Decider != explain.ByNothing {
		t.Errorf("%s: %s", e.Decider, e.Answer)
	}
}

func TestPercentages(t *testing.T) {
	tws := scaler("UTC", window("a", week, "09:00", "17:00", 10), window("b", week, "09:00", "17:00", 10))
	tws.Spec.BaselineReplicas = ptr.To[int32](6)
	tws.Spec.DefaultReplicas = intstr.FromString("25%")
	tws.Spec.Windows[0].Replicas = intstr.FromString("150%")
	e := explain.Explain(tws, explain.Holidays{}, nil, instant(t, "2026-11-23T09:30:00Z"))
	want := []string{"9 (150% of baselineReplicas 6)", "10", "outside all windows: 2 (25% of baselineReplicas 6, rounded up)"}
	if diff := cmp.Diff(want, []string{e.Windows[0].Count, e.Windows[1].Count, e.Facts[0].Text}); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
