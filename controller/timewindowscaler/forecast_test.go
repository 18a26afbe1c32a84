package timewindowscaler

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// What the status says will happen next does happen: at that time and to that count, and not a second before.
func TestNextChangeComesTrue(t *testing.T) {
	for name, change := range map[string]func(*scenario){
		"plain": func(*scenario) {},
		"grace": func(s *scenario) { s.tws.Spec.GracePeriodSeconds = 900 },
		"percent": func(s *scenario) {
			s.tws.Spec.BaselineReplicas, s.tws.Spec.Windows[0].Replicas = ptr.To[int32](7), intstr.FromString("150%")
		},
		"closed": func(s *scenario) { s.follows(v1beta1.HolidayClosed, "2025-01-28", "2025-01-29") },
		"open":   func(s *scenario) { s.follows(v1beta1.HolidayOpen, "2025-02-01") },
		"paused": func(s *scenario) { s.tws.Spec.Pause = true },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 10)
			change(s)
			s.pass(inTheHours)
			for range 12 {
				next := s.tws.Status.NextChange
				if next == nil || next.Replicas == nil {
					t.Fatalf("no next change in %+v", s.tws.Status)
				}
				before := *s.tws.Status.EffectiveReplicas
				for at := s.last.plan.wakeUp; at.Before(next.Time.Time); at = s.last.plan.wakeUp {
					s.passAt(at)
					if got := *s.tws.Status.EffectiveReplicas; got != before {
						t.Fatalf("%d at %s already, not %d as until %s", got, at, before, next.Time)
					}
					if diff := cmp.Diff(next, s.tws.Status.NextChange); diff != "" {
						t.Fatalf("at %s (-before +now)\n%s", at, diff)
					}
				}
				s.passAt(next.Time.Time)
				if got := *s.tws.Status.EffectiveReplicas; got != *next.Replicas || got == before {
					t.Fatalf("%d at %s after %d, want %d", got, next.Time, before, *next.Replicas)
				}
			}
		})
	}
}

// follows makes the scaler follow holidays.
func (s *scenario) follows(mode v1beta1.HolidayMode, dates ...string) {
	s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: mode, SourceRef: &v1beta1.HolidaySource{Name: "company-holidays"}}
	s.obs.holidays.dates = map[string]bool{}
	for _, date := range dates {
		s.obs.holidays.dates[date] = true
	}
}

// A window whose metric decides begins without a count, and ends with one.
func TestNextChangeOfAMetric(t *testing.T) {
	s := newScenario(t, 2)
	s.tws.Spec.Windows[0].Metric = &v1beta1.WindowMetric{
		Name: "queue", MaxReplicas: 20, Target: v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "30"},
	}
	s.pass("2025-01-27 08:00:00")
	if next := s.tws.Status.NextChange; next == nil || localTime(&next.Time) != "2025-01-27 09:00:00" || next.Replicas != nil {
		t.Errorf("before the window: %+v", next)
	}
	s.pass("2025-01-27 10:00:00")
	if next := s.tws.Status.NextChange; next == nil || localTime(&next.Time) != "2025-01-27 17:00:00" || ptr.Deref(next.Replicas, -1) != 2 {
		t.Errorf("in the window: %+v", next)
	}
}

// Without a readable schedule nothing is foretold; with an unknown zone, only the end of a grace period.
func TestNextChangeOfAnInvalidSpec(t *testing.T) {
	s := newScenario(t, 10)
	s.pass(inTheHours)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) {
		spec.Timezone, spec.GracePeriodSeconds = "Mars/Olympus_Mons", 60
	})
	s.pass("2025-01-27 15:00:00")
	if next := s.tws.Status.NextChange; next == nil || localTime(&next.Time) != "2025-01-27 15:01:00" || ptr.Deref(next.Replicas, -1) != 2 {
		t.Errorf("with an unknown zone: %+v", next)
	}
	s.pass("2025-01-27 15:01:00")
	if next := s.tws.Status.NextChange; next != nil {
		t.Errorf("with an unknown zone, after grace: %+v", next)
	}
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].End = "09:00" })
	s.pass("2025-01-27 15:02:00")
	if next := s.tws.Status.NextChange; next != nil {
		t.Errorf("with an invalid window: %+v", next)
	}
}

// B9: at local midnight of a day without windows nothing in the status changes, whatever else may decide.
func TestMidnightChangesNothing(t *testing.T) {
	for name, change := range map[string]func(*scenario){
		"no holidays":    func(*scenario) {},
		"holidays count": func(s *scenario) { s.follows(v1beta1.HolidayClosed, "2025-03-01") },
		"a window always": func(s *scenario) {
			s.tws.Spec.Windows[0].Days, s.tws.Spec.Windows[0].Start, s.tws.Spec.Windows[0].End = weekdays(), "00:00", "24:00"
		},
		"a window abroad":  func(s *scenario) { s.tws.Spec.Windows[0].Timezone = "America/New_York" },
		"no pods expected": func(s *scenario) { s.tws.Spec.DefaultReplicas = intstr.FromInt32(0) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, 2)
			change(s)
			s.pass("2025-02-01 12:00:00") // Saturday
			s.pass("2025-02-01 12:00:01") // as many pods as desired
			before := s.tws.Status
			for midnight := ist("2025-02-02 00:00:00"); midnight.Before(ist("2025-02-03 00:00:01")); midnight = midnight.Add(12 * time.Hour) {
				s.passAt(midnight)
				if diff := cmp.Diff(before, s.tws.Status); diff != "" {
					t.Errorf("at %s (-before +now)\n%s", fmt.Sprint(midnight), diff)
				}
			}
		})
	}
}

func weekdays() []v1beta1.Weekday {
	return []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
}
