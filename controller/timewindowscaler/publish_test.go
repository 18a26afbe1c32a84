package timewindowscaler

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/metrics"
)

// R13: the events in their order, and the holiday once.
func TestAHolidayIsAnnouncedOnce(t *testing.T) {
	s := newScenario(t, 10)
	s.tws.Spec.DefaultReplicas = intstr.FromInt32(0)
	s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "company-holidays"}}
	s.obs.holidays.dates = map[string]bool{"2025-12-25": true, "2025-12-26": true}
	s.pass("2025-12-24 23:00:00")
	s.expectEvents("ScaledDown")
	s.obs.target = deployment(10, 10)
	s.pass("2025-12-25 00:00:00")
	s.expectEvents("HolidayDetected", "WindowOverride", "ScaledDown")
	s.pass("2025-12-25 10:00:00")
	s.expectEvents()
	s.pass("2025-12-26 00:00:00")
	s.expectEvents("HolidayDetected", "WindowOverride")
	s.pass("2025-12-29 10:00:00")
	s.expectEvents("ScaledUp")
	if s.tws.Status.Holiday != "" {
		t.Errorf("still the holiday %s", s.tws.Status.Holiday)
	}
}

func TestAnOpenHoliday(t *testing.T) {
	s := newScenario(t, 2)
	s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayOpen, SourceRef: &v1beta1.HolidaySource{Name: "company-holidays"}}
	s.obs.holidays.dates = map[string]bool{"2025-12-25": true}
	s.pass("2025-12-25 20:00:00")
	s.expectEvents("HolidayDetected", "WindowOverride", "ScaledUp")
	s.expectCondition("Ready", "False/TargetMismatch")
}

// R11.
func TestAMissingTarget(t *testing.T) {
	s := newScenario(t, 10)
	s.pass(inTheHours)
	s.obs.target = nil
	s.pass("2025-01-27 14:01:00")
	s.expectEvents("MissingTarget")
	s.obs.target = deployment(1, 1)
	s.pass("2025-01-27 14:02:00")
	s.expectEvents("ScaledUp")
	s.pass("2025-01-27 14:02:05")
	s.expectCondition("Ready", inOrder)
}

// B8: a scaler that does not own the target reports that and nothing else.
func TestASecondScalerOnlyWarns(t *testing.T) {
	s := newGrace(t)
	s.obs.owner = "older"
	s.pass("2025-01-27 17:00:00")
	s.expectTargetSpec(10)
	s.expectEvents("TargetConflict")
}

// B8: it does not write before it takes over.
func TestASecondScalerTakesOver(t *testing.T) {
	s := newScenario(t, 4)
	s.obs.owner, s.obs.takesOver = "older", ist("2025-01-27 14:00:07")
	s.pass(inTheHours)
	s.expectTargetSpec(4)
	s.expectEvents()
	s.expectCondition("Ready", "False/TargetConflict")
	s.expectCondition("Reconciling", notReconciling)
	s.obs.owner, s.obs.takesOver = "", time.Time{}
	s.pass("2025-01-27 14:00:07")
	s.expectTargetSpec(10)
	s.expectEvents("ScaledUp")
}

// B8: an HPA on the same target gets a warning, whenever it came.
func TestAnAutoscalerGetsAWarning(t *testing.T) {
	s := newScenario(t, 10)
	s.pass(inTheHours)
	s.obs.autoscaler = "webapp-hpa"
	s.pass("2025-01-27 14:01:00")
	s.expectEvents("TargetConflict")
	s.expectCondition("Degraded", "True/TargetConflict")
	s.expectCondition("Ready", inOrder)
	s.obs.holidays.missing = "company-holidays" // what may pass by itself is shown first
	s.pass("2025-01-27 14:02:00")
	s.expectCondition("Degraded", "True/HolidaySourceMissing")
	s.obs.holidays.missing, s.tws.Spec.Pause = "", true // then Kyklos overwrites nothing
	s.pass("2025-01-27 14:03:00")
	s.expectCondition("Degraded", normal)
	s.obs.autoscaler, s.tws.Spec.Pause = "", false
	s.pass("2025-01-27 14:04:00")
	s.expectCondition("Degraded", normal)
}

// gauges returns this scaler's series by metric name and window.
func gauges(t *testing.T, key types.NamespacedName) map[string]float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name, mine := strings.TrimPrefix(family.GetName(), "kyklos_"), false
			for _, label := range m.GetLabel() {
				mine = mine || label.GetName() == "tws_name" && label.GetValue() == key.Name
				if label.GetName() == "window" || label.GetName() == "direction" || label.GetName() == "reason" {
					name += "/" + label.GetValue()
				}
			}
			if mine {
				got[name] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
			}
		}
	}
	return got
}

// B12: the metrics after each pass, as a scrape sees them.
func TestMetricsOfAPass(t *testing.T) {
	s := newScenario(t, 5)
	s.tws.Name = "measured"
	key := types.NamespacedName{Namespace: "production", Name: "measured"}
	t.Cleanup(func() { metrics.Forget(key) })
	expect := func(what string, want map[string]float64) {
		t.Helper()
		s.last.record(&s.tws.Status)
		got := gauges(t, key)
		if got["degraded"] == 0 {
			delete(got, "degraded")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", what, diff)
		}
	}
	due := func(at string) float64 { return float64(ist(at).Unix()) }
	s.tws.Spec.Pause = true
	s.pass(inTheHours)
	expect("paused", map[string]float64{"effective_replicas/BusinessHours": 10, "pause_active": 1, "replica_drift": 5,
		"next_due_timestamp_seconds": due("2025-01-27 17:00:00")})

	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause, spec.GracePeriodSeconds = false, 60 })
	s.pass("2025-01-27 14:01:00")
	expect("going on", map[string]float64{"effective_replicas/BusinessHours": 10, "replica_drift": 5, "scale_events_total/up": 1,
		"next_due_timestamp_seconds": due("2025-01-27 17:00:00")})

	s.pass("2025-01-27 17:00:00")
	expect("in grace", map[string]float64{"effective_replicas/OffHours": 10, "in_grace_period/OffHours": 1, "scale_events_total/up": 1,
		"next_due_timestamp_seconds": due("2025-01-27 17:01:00")}) // the grace period's end

	s.obs.target = deployment(12, 12)
	s.pass("2025-01-27 17:00:30")
	expect("drift", map[string]float64{"effective_replicas/OffHours": 10, "in_grace_period/OffHours": 1, "replica_drift": 2,
		"next_due_timestamp_seconds": due("2025-01-27 17:01:00"), "scale_events_total/up": 1, "scale_events_total/down": 1, "manual_drift_corrections_total": 1})

	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].End = "09:00" })
	s.pass("2025-01-27 17:00:40")
	expect("unreadable", map[string]float64{"effective_replicas/OffHours": 10, "in_grace_period/OffHours": 1, "degraded": 1,
		"scale_events_total/up": 1, "scale_events_total/down": 1, "manual_drift_corrections_total": 1})
}
