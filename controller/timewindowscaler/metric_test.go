package timewindowscaler

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
)

var queueDepth = extmetric.Source{Namespace: "production", Name: "queue_depth"}

// polled is a scenario in whose office hours 30 of queue_depth are wanted for each replica, with 2 to 20
// replicas; 10 to fall back on.
func polled(t *testing.T, replicas int32) *scenario {
	s := newScenario(t, replicas)
	s.tws.Spec.Windows[0].Metric = &v1beta1.WindowMetric{
		Name:        "queue_depth",
		Target:      v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"},
		MinReplicas: ptr.To[int32](2), MaxReplicas: 20,
	}
	s.obs.metric.tolerance = 0.1
	return s
}

// inWindow is a scenario whose window has just been entered from the given count.
func inWindow(t *testing.T, replicas int32) *scenario {
	s := polled(t, replicas)
	s.tws.Spec.DefaultReplicas = intstr.FromInt32(replicas)
	s.poll("2025-01-27 08:59:00")
	s.poll("2025-01-27 09:00:00")
	return s
}

// poll runs a pass, as the reconciler does, with the result of the polls.
func (s *scenario) poll(local string) *passResult {
	s.Helper()
	pass := s.pass(local)
	s.obs.metric.before = pass.plan.metric
	if s.obs.target != nil {
		s.obs.target.Base().Ready = s.obs.target.Base().Spec
	}
	return pass
}

// metricValue is a poll with a value.
func (s *scenario) metricValue(value int64) *scenario {
	sample := &s.obs.metric.sample
	*sample = extmetric.Sample{Source: queueDepth, Value: value * 1000, Number: sample.Number + 1, Answered: true}
	return s
}

// missPolls is a number of polls without one.
func (s *scenario) missPolls(polls int) *scenario {
	sample := &s.obs.metric.sample
	sample.Source, sample.Answered, sample.Problem = queueDepth, true, "boom"
	sample.Misses += polls
	return s
}

// restart forgets all that is not in the status.
func (s *scenario) restart() *scenario {
	s.obs.metric = metricObservation{tolerance: s.obs.metric.tolerance}
	return s
}

const during = "2025-01-27 10:00:00"

func TestTheMetricDecides(t *testing.T) {
	s := inWindow(t, 2)
	s.expectEffective(10, "") // the rise to the fallback waits for no poll
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
		s.metricValue(step.value).poll(during)
		s.expectEffective(step.want, "")
		s.expectTargetSpec(step.want)
	}
	s.expectCondition("Ready", "False/TargetMismatch")
	s.expectEvents("ScaledDown")
	s.poll("2025-01-27 17:00:00")
	s.expectEffective(2, "")
	s.expectEvents("ScaledDown")
}

// A value that asks for the count in force changes nothing in the status, so nothing is written (B9).
func TestAValueThatChangesNothingIsNoNews(t *testing.T) {
	s := inWindow(t, 10)
	s.metricValue(300).poll(during)
	s.metricValue(300).poll(during)
	before := s.tws.Status.DeepCopy()
	s.metricValue(310).poll("2025-01-27 10:00:15")
	if diff := cmp.Diff(before, &s.tws.Status); diff != "" {
		t.Errorf("-before +after\n%s", diff)
	}
	s.expectEvents()
}

// Each value is used once: the proposal of a Value target grows with the pods that it brings up.
func TestAValueIsUsedOnce(t *testing.T) {
	s := inWindow(t, 10)
	s.tws.Spec.Windows[0].Metric.Target = v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "100"}
	s.metricValue(50).poll(during)
	s.expectEffective(5, "")
	s.metricValue(200).poll(during)
	s.expectEffective(10, "")
	for range 3 {
		s.poll(during) // the pods arrive
		s.expectEffective(10, "")
	}
	s.metricValue(200).poll(during)
	s.expectEffective(20, "")
}

func TestOnlyReadyPodsCountForValue(t *testing.T) {
	s := inWindow(t, 10)
	s.tws.Spec.Windows[0].Metric.Target = v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "100"}
	s.obs.target.Base().Ready = 4
	s.metricValue(200).poll(during)
	s.expectEffective(8, "")
}

// What is polled: the metric of the window that decides, and nothing else.
func TestWhatIsPolled(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*scenario)
		local  string
		want   bool
	}{
		"in the window":          {func(*scenario) {}, during, true},
		"before it":              {func(*scenario) {}, "2025-01-27 08:59:59", false},
		"after it":               {func(*scenario) {}, "2025-01-27 17:00:00", false},
		"paused":                 {func(s *scenario) { s.tws.Spec.Pause = true }, during, true},
		"no target":              {func(s *scenario) { s.obs.target = nil }, during, false},
		"owned by another":       {func(s *scenario) { s.obs.owner = "older" }, during, false},
		"unknown zone":           {func(s *scenario) { s.tws.Spec.Timezone = "Mars/Olympus_Mons" }, during, false},
		"no metric":              {func(s *scenario) { s.tws.Spec.Windows[0].Metric = nil }, during, false},
		"an open holiday":        {func(s *scenario) { s.holiday(v1beta1.HolidayOpen) }, during, false},
		"a closed holiday":       {func(s *scenario) { s.holiday(v1beta1.HolidayClosed) }, during, false},
		"an ignored holiday":     {func(s *scenario) { s.holiday(v1beta1.HolidayIgnore) }, during, true},
		"another window decides": {func(s *scenario) { s.covered() }, during, false},
	} {
		s := polled(t, 10)
		tc.change(s)
		if got := s.poll(tc.local).plan.metric.Wanted; (got != nil) != tc.want || got != nil && *got != queueDepth {
			t.Errorf("%s: polls %v, want %v", name, got, tc.want)
		}
	}
}

func (s *scenario) holiday(mode v1beta1.HolidayMode) {
	s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: mode}
	s.obs.holidays.dates = map[string]bool{"2025-01-27": true}
}

func (s *scenario) covered() {
	second := s.tws.Spec.Windows[0].DeepCopy()
	second.Start, second.Metric = "09:30", nil
	s.tws.Spec.Windows = append(s.tws.Spec.Windows, *second)
}

// An open holiday takes the largest of the windows' own counts, whatever the metric says.
func TestAnOpenHolidayTakesTheFallback(t *testing.T) {
	s := inWindow(t, 2)
	s.holiday(v1beta1.HolidayOpen)
	s.metricValue(600).poll(during)
	s.expectEffective(10, "")
}

func TestTheSelectorIsPartOfTheSource(t *testing.T) {
	s := polled(t, 10)
	s.tws.Spec.Windows[0].Metric.Selector = &v1beta1.MetricSelector{
		MatchLabels:      map[string]v1beta1.LabelValue{"queue": "mail"},
		MatchExpressions: []v1beta1.MetricSelectorRequirement{{Key: "zone", Operator: "NotIn", Values: []string{"b", "a"}}},
	}
	want := queueDepth
	want.Selector = "queue=mail,zone notin (a,b)"
	if got := s.poll(during).plan.metric.Wanted; got == nil || *got != want {
		t.Errorf("polls %+v, want %+v", got, want)
	}
	s.metricValue(600).poll(during) // of the metric without a selector
	s.expectEffective(10, "")
	s.obs.metric.sample.Source = want
	s.poll(during)
	s.expectEffective(20, "")
}
