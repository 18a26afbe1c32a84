package explain_test

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
	"kyklos.io/kyklos/internal/golden"
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
	want := golden.New(t, "windows")
	for name, tc := range map[string]struct {
		windows []v1beta1.Window
		at      string
	}{
		"one that decides":       {[]v1beta1.Window{office}, "2026-11-23T09:00:00+01:00"},
		"its end":                {[]v1beta1.Window{office}, "2026-11-23T17:00:00+01:00"},
		"before it":              {[]v1beta1.Window{office}, "2026-11-23T08:59:30+01:00"},
		"another day":            {[]v1beta1.Window{office}, "2026-11-21T12:00:00+01:00"},
		"another week":           {[]v1beta1.Window{window("", week[5:6], "10:00", "12:00", 1)}, "2026-11-21T15:20:00+01:00"},
		"a later one wins":       {[]v1beta1.Window{office, window("lunch", week, "12:00", "14:00", 20), window("evening", week, "16:00", "20:00", 5)}, "2026-11-23T12:30:00+01:00"},
		"a night after midnight": {[]v1beta1.Window{window("", week, "22:00", "06:00", 8)}, "2026-11-24T02:00:00+01:00"},
		"between two nights":     {[]v1beta1.Window{window("", week, "22:00", "06:00", 8)}, "2026-11-24T12:00:00+01:00"},
		"always":                 {[]v1beta1.Window{window("", week, "00:00", "24:00", 8)}, "2026-11-24T12:00:00+01:00"},
		"abroad":                 {[]v1beta1.Window{abroad}, "2026-11-24T23:30:00+01:00"},
		"skipped at its start":   {[]v1beta1.Window{window("", week, "02:30", "05:00", 8)}, "2026-03-29T03:30:00+02:00"},
		"skipped wholly":         {[]v1beta1.Window{window("", week, "02:10", "02:50", 8)}, "2026-03-29T12:00:00+02:00"},
		"to be skipped wholly":   {[]v1beta1.Window{window("", week, "02:10", "02:50", 8)}, "2026-03-29T01:00:00+01:00"},
		"interrupted by a clock that is put back": {[]v1beta1.Window{window("", week, "02:30", "05:00", 8)}, "2026-10-25T02:10:00+01:00"},
	} {
		e := explain.Explain(scaler("Europe/Berlin", tc.windows...), explain.Holidays{}, nil, instant(t, tc.at))
		var got []string
		for _, w := range e.Windows {
			got = append(append(got, string(w.State)+": "+w.Why), w.Notes...)
		}
		want.Add(name, got...)
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
	want := golden.New(t, "answers")
	for name, tc := range map[string]struct {
		tws      *v1beta1.TimeWindowScaler
		holidays explain.Holidays
		decider  explain.Decider
	}{
		"a window": {office, listed, explain.ByWindow},
		"a window without a name": {
			with(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.Windows[0].End = "11:00" }), explain.Holidays{}, explain.ByWindow},
		"two windows": {
			with(func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.Windows = append(tws.Spec.Windows, window("rush", week, "10:00", "11:00", 1))
			}), explain.Holidays{}, explain.ByWindow},
		"the default": {
			with(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.Windows[0].Start = "11:00" }), explain.Holidays{}, explain.ByDefault},
		"a closed holiday": {closed, listed, explain.ByHoliday},
		"an open holiday":  {open, listed, explain.ByHoliday},
		"no holiday":       {closed, explain.Holidays{}, explain.ByWindow},
		"a metric": {
			with(func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.Windows[0].Metric = &v1beta1.WindowMetric{
					Name: "queue_depth", MaxReplicas: 20, MinReplicas: ptr.To[int32](4),
					Target: v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "30"},
				}
			}), explain.Holidays{}, explain.ByMetric},
		"a Workspace": {
			with(func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ada"}
			}), explain.Holidays{}, explain.ByWindow},
		"a DaemonSet": {
			with(func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.TargetRef.Kind, tws.Spec.Windows[0].Replicas = "DaemonSet", intstr.FromInt32(0)
			}), explain.Holidays{}, explain.ByWindow},
	} {
		e := explain.Explain(tc.tws, tc.holidays, nil, instant(t, "2026-11-23T04:30:00Z"))
		if e.Decider != tc.decider {
			t.Errorf("%s: by %s", name, e.Decider)
		}
		want.Add(name, e.Answer)
	}
}

// A spec that admission would refuse may be stored all the same. It is explained as the controller treats it (B5).
func TestInvalidSpecs(t *testing.T) {
	zone := scaler("Mars/Olympus_Mons", window("", week, "09:00", "17:00", 10))
	windowZone := scaler("UTC", window("a", week, "09:00", "17:00", 10), window("b", week, "09:00", "17:00", 20))
	windowZone.Spec.Windows[1].Timezone = "Mars/Olympus_Mons"
	start := scaler("UTC", window("a", week, "9:00", "17:00", 10))
	namespace := scaler("UTC", window("a", week, "09:00", "17:00", 10))
	namespace.Spec.TargetRef.Namespace = "elsewhere"
	schema := scaler("UTC", window("a", week, "09:00", "17:00", 10))
	schema.Spec.Workspace = &v1beta1.WorkspaceDrive{}
	want := golden.New(t, "invalid")
	for name, tc := range map[string]struct {
		tws      *v1beta1.TimeWindowScaler
		decider  explain.Decider
		replicas *int32
		states   []explain.WindowState
	}{
		"unknown zone":             {zone, explain.ByZone, ptr.To[int32](2), nil},
		"unknown zone of a window": {windowZone, explain.ByWindow, ptr.To[int32](10), []explain.WindowState{explain.Decides, explain.LeftOut}},
		"start":                    {start, explain.ByNothing, nil, nil},
		"namespace of the target":  {namespace, explain.ByNothing, nil, nil},
		"refused by the schema":    {schema, explain.ByNothing, nil, nil},
	} {
		e := explain.Explain(tc.tws, explain.Holidays{}, nil, instant(t, "2026-11-23T09:30:00Z"))
		var states []explain.WindowState
		lines := []string{e.Answer}
		for i, w := range e.Windows {
			states, lines = append(states, w.State), append(lines, w.Count+": "+w.Why)
			if want := tc.tws.Spec.Windows[i].Replicas.IntVal; w.Replicas != want {
				t.Errorf("%s: window %d has %d replicas, want %d", name, i, w.Replicas, want)
			}
		}
		if e.Decider != tc.decider || !ptr.Equal(e.Replicas, tc.replicas) || !slices.Equal(states, tc.states) {
			t.Errorf("%s: %s, %v", name, e.Decider, states)
		}
		want.Add(name, lines...)
	}
}

func TestPercentages(t *testing.T) {
	tws := scaler("UTC", window("a", week, "09:00", "17:00", 10), window("b", week, "09:00", "17:00", 10))
	tws.Spec.BaselineReplicas = ptr.To[int32](6)
	tws.Spec.DefaultReplicas = intstr.FromString("25%")
	tws.Spec.Windows[0].Replicas = intstr.FromString("150%")
	e := explain.Explain(tws, explain.Holidays{}, nil, instant(t, "2026-11-23T09:30:00Z"))
	golden.New(t, "percentages").Add("percentages", e.Windows[0].Count, e.Windows[1].Count, e.Facts[0].Text)
}
