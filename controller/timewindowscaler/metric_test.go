package timewindowscaler

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

var queueDepth = metricSource{namespace: "production", name: "queue_depth"}

// polled is a story in whose office hours 30 of queue_depth are wanted for each replica, with 2 to 20
// replicas; 10 to fall back on.
func polled(t *testing.T, replicas int32) *story {
	s := newStory(t, replicas)
	s.tws.Spec.Windows[0].Metric = &v1beta1.WindowMetric{
		Name:        "queue_depth",
		Target:      v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"},
		MinReplicas: ptr.To[int32](2), MaxReplicas: 20,
	}
	s.obs.metric.tolerance = 0.1
	return s
}

// inWindow is a story whose window has just been entered from the given count.
func inWindow(t *testing.T, replicas int32) *story {
	s := polled(t, replicas)
	s.tws.Spec.DefaultReplicas = intstr.FromInt32(replicas)
	s.polls("2025-01-27 08:59:00")
	s.polls("2025-01-27 09:00:00")
	return s
}

// polls runs a pass, as the reconciler does, with what the polls have come to.
func (s *story) polls(local string) *situation {
	s.Helper()
	pass := s.passes(local)
	s.obs.metric.before = pass.plan.metric
	if s.obs.target != nil {
		s.obs.target.readyReplicas = s.obs.target.specReplicas
	}
	return pass
}

// gets is a poll with a value.
func (s *story) gets(value int64) *story {
	sample := &s.obs.metric.sample
	*sample = metricSample{source: queueDepth, value: value * 1000, number: sample.number + 1, answered: true}
	return s
}

// misses is a number of polls without one.
func (s *story) misses(polls int) *story {
	sample := &s.obs.metric.sample
	sample.source, sample.answered, sample.problem = queueDepth, true, "boom"
	sample.misses += polls
	return s
}

// restarts forgets all that is not in the status.
func (s *story) restarts() *story {
	s.obs.metric = metricObservation{tolerance: s.obs.metric.tolerance}
	return s
}

const during = "2025-01-27 10:00:00"

func TestTheMetricDecides(t *testing.T) {
	s := inWindow(t, 2)
	s.keeps(10, "") // the rise to the fallback waits for no poll
	for _, step := range []struct {
		value int64
		want  int32
	}{
		{150, 5},
		{159, 5}, // 5 is kept within 10 percent
		{166, 6},
		{0, 2},       // minReplicas
		{10_000, 20}, // maxReplicas
		{390, 13},
	} {
		s.gets(step.value).polls(during)
		s.keeps(step.want, "")
		s.stands(step.want)
	}
	s.shows("Ready", "False/TargetMismatch: Target does not have the desired 13 replicas yet (window: BusinessHours, metric queue_depth)")
	s.hears("Scaled down from 20 to 13 replicas (window: BusinessHours, metric queue_depth)")
	s.polls("2025-01-27 17:00:00")
	s.keeps(2, "")
	s.hears("Scaled down from 13 to 2 replicas (window: OffHours)")
}

// A value that asks for the count in force changes nothing in the status, so nothing is written (B9).
func TestAValueThatChangesNothingIsNoNews(t *testing.T) {
	s := inWindow(t, 10)
	s.gets(300).polls(during)
	s.gets(300).polls(during)
	before := s.tws.Status.DeepCopy()
	s.gets(310).polls("2025-01-27 10:00:15")
	if diff := cmp.Diff(before, &s.tws.Status); diff != "" {
		t.Errorf("-before +after\n%s", diff)
	}
	s.hears()
}

// Each value is made use of once: the proposal of a Value target grows with the pods that it brings up.
func TestAValueIsUsedOnce(t *testing.T) {
	s := inWindow(t, 10)
	s.tws.Spec.Windows[0].Metric.Target = v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "100"}
	s.gets(50).polls(during)
	s.keeps(5, "")
	s.gets(200).polls(during)
	s.keeps(10, "")
	for range 3 {
		s.polls(during) // the pods arrive
		s.keeps(10, "")
	}
	s.gets(200).polls(during)
	s.keeps(20, "")
}

func TestOnlyReadyPodsCountForValue(t *testing.T) {
	s := inWindow(t, 10)
	s.tws.Spec.Windows[0].Metric.Target = v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "100"}
	s.obs.target.readyReplicas = 4
	s.gets(200).polls(during)
	s.keeps(8, "")
}

// What is polled: the metric of the window that decides, and nothing else.
func TestWhatIsPolled(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*story)
		local  string
		want   bool
	}{
		"in the window":          {func(*story) {}, during, true},
		"before it":              {func(*story) {}, "2025-01-27 08:59:59", false},
		"after it":               {func(*story) {}, "2025-01-27 17:00:00", false},
		"paused":                 {func(s *story) { s.tws.Spec.Pause = true }, during, true},
		"no target":              {func(s *story) { s.obs.target = nil }, during, false},
		"owned by another":       {func(s *story) { s.obs.owner = "older" }, during, false},
		"unknown zone":           {func(s *story) { s.tws.Spec.Timezone = "Mars/Olympus_Mons" }, during, false},
		"no metric":              {func(s *story) { s.tws.Spec.Windows[0].Metric = nil }, during, false},
		"an open holiday":        {func(s *story) { s.holiday(v1beta1.HolidayOpen) }, during, false},
		"a closed holiday":       {func(s *story) { s.holiday(v1beta1.HolidayClosed) }, during, false},
		"an ignored holiday":     {func(s *story) { s.holiday(v1beta1.HolidayIgnore) }, during, true},
		"another window decides": {func(s *story) { s.covered() }, during, false},
	} {
		s := polled(t, 10)
		tc.change(s)
		if got := s.polls(tc.local).plan.metric.wanted; (got != nil) != tc.want || got != nil && *got != queueDepth {
			t.Errorf("%s: polls %v, want %v", name, got, tc.want)
		}
	}
}

func (s *story) holiday(mode v1beta1.HolidayMode) {
	s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: mode}
	s.obs.holidays.dates = map[string]bool{"2025-01-27": true}
}

func (s *story) covered() {
	second := s.tws.Spec.Windows[0].DeepCopy()
	second.Start, second.Metric = "09:30", nil
	s.tws.Spec.Windows = append(s.tws.Spec.Windows, *second)
}

// An open holiday takes the largest of the windows' own counts, whatever the metric says.
func TestAnOpenHolidayTakesTheFallback(t *testing.T) {
	s := inWindow(t, 2)
	s.holiday(v1beta1.HolidayOpen)
	s.gets(600).polls(during)
	s.keeps(10, "")
}

func TestTheSelectorIsPartOfTheSource(t *testing.T) {
	s := polled(t, 10)
	s.tws.Spec.Windows[0].Metric.Selector = &v1beta1.MetricSelector{
		MatchLabels:      map[string]v1beta1.LabelValue{"queue": "mail"},
		MatchExpressions: []v1beta1.MetricSelectorRequirement{{Key: "zone", Operator: "NotIn", Values: []string{"b", "a"}}},
	}
	want := queueDepth
	want.selector = "queue=mail,zone notin (a,b)"
	if got := s.polls(during).plan.metric.wanted; got == nil || *got != want {
		t.Errorf("polls %+v, want %+v", got, want)
	}
	s.gets(600).polls(during) // of the metric without a selector
	s.keeps(10, "")
	s.obs.metric.sample.source = want
	s.polls(during)
	s.keeps(20, "")
}
