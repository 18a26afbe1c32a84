package metrics_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"k8s.io/apimachinery/pkg/types"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/internal/metrics"
)

// series returns every kyklos_ series whose labels contain all of some text, as a scrape shows it.
// A histogram shows its count.
func series(t *testing.T, containing ...string) []string {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, family := range families {
		for _, m := range family.GetMetric() {
			line := fmt.Sprintf("%s{%s} %v", family.GetName(), labels(m), value(m))
			missing := func(text string) bool { return !strings.Contains(line, text) }
			if strings.HasPrefix(line, "kyklos_") && !slices.ContainsFunc(containing, missing) {
				found = append(found, line)
			}
		}
	}
	slices.Sort(found)
	return found
}

func labels(m *dto.Metric) string {
	pairs := make([]string, 0, len(m.GetLabel()))
	for _, pair := range m.GetLabel() {
		pairs = append(pairs, fmt.Sprintf("%s=%q", pair.GetName(), pair.GetValue()))
	}
	return strings.Join(pairs, ",")
}

func value(m *dto.Metric) float64 {
	switch {
	case m.GetHistogram() != nil:
		return float64(m.GetHistogram().GetSampleCount())
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	default:
		return m.GetGauge().GetValue()
	}
}

func expect(t *testing.T, want []string, containing ...string) {
	t.Helper()
	if diff := cmp.Diff(want, series(t, containing...)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Names and labels are public contract (B12).
func TestTheSeriesOfAScaler(t *testing.T) {
	metrics.RecordScaleEvent("web", "contract", 2, 10)
	metrics.RecordScaleEvent("web", "contract", 10, 2)
	metrics.RecordScaleEvent("web", "contract", 2, 10)
	metrics.RecordScaleFailure("web", "contract", "Forbidden")
	metrics.RecordDriftCorrection("web", "contract")
	metrics.RecordState("web", "contract", metrics.State{Window: "BusinessHours", EffectiveReplicas: 10, Drift: 5,
		InGracePeriod: true, Paused: true, HolidayOverride: true, Degraded: true, FieldFight: true})
	expect(t, []string{
		`kyklos_degraded{namespace="contract",tws_name="web"} 1`,
		`kyklos_effective_replicas{namespace="contract",tws_name="web",window="BusinessHours"} 10`,
		`kyklos_field_fight{namespace="contract",tws_name="web"} 1`,
		`kyklos_holiday_override_active{namespace="contract",tws_name="web"} 1`,
		`kyklos_in_grace_period{namespace="contract",tws_name="web",window="BusinessHours"} 1`,
		`kyklos_manual_drift_corrections_total{namespace="contract",tws_name="web"} 1`,
		`kyklos_pause_active{namespace="contract",tws_name="web"} 1`,
		`kyklos_replica_drift{namespace="contract",tws_name="web"} 5`,
		`kyklos_scale_events_total{direction="down",namespace="contract",tws_name="web"} 1`,
		`kyklos_scale_events_total{direction="up",namespace="contract",tws_name="web"} 2`,
		`kyklos_scale_failures_total{namespace="contract",reason="Forbidden",tws_name="web"} 1`,
	}, `namespace="contract"`)
}

// What is 0 nearly always has no series then.
func TestGaugesFollowTheState(t *testing.T) {
	all := metrics.State{Window: "W", EffectiveReplicas: 10, Drift: 5, InGracePeriod: true, Paused: true, HolidayOverride: true, Degraded: true, FieldFight: true}
	metrics.RecordState("web", "follow", all)
	metrics.RecordState("web", "follow", metrics.State{Window: "W"})
	expect(t, []string{
		`kyklos_degraded{namespace="follow",tws_name="web"} 0`,
		`kyklos_effective_replicas{namespace="follow",tws_name="web",window="W"} 0`,
	}, `namespace="follow"`)
}

// B12: a gauge labelled by window drops its old series when the window changes, of this scaler alone.
func TestTheOldWindowsSeriesGo(t *testing.T) {
	for _, who := range []string{"web", "api"} {
		metrics.RecordState(who, "windows", metrics.State{Window: "BusinessHours", EffectiveReplicas: 10, InGracePeriod: true})
	}
	metrics.RecordState("web", "windows", metrics.State{Window: "OffHours", EffectiveReplicas: 2, InGracePeriod: true})
	expect(t, []string{
		`kyklos_effective_replicas{namespace="windows",tws_name="api",window="BusinessHours"} 10`,
		`kyklos_effective_replicas{namespace="windows",tws_name="web",window="OffHours"} 2`,
		`kyklos_in_grace_period{namespace="windows",tws_name="api",window="BusinessHours"} 1`,
		`kyklos_in_grace_period{namespace="windows",tws_name="web",window="OffHours"} 1`,
	}, `namespace="windows"`, "window=")
}

// A boundary that was missed stays, in the past; a schedule without any has no series.
func TestWhatIsDueNext(t *testing.T) {
	due := time.Unix(1_800_000_000, 0)
	metrics.RecordState("web", "due", metrics.State{Window: "W", Due: due})
	metrics.RecordScaleFailure("web", "due", "Unreachable") // the gauges stay as the last pass left them
	expect(t, []string{`kyklos_next_due_timestamp_seconds{namespace="due",tws_name="web"} 1.8e+09`}, `namespace="due"`, "next_due")
	metrics.RecordState("web", "due", metrics.State{Degraded: true})
	expect(t, nil, `namespace="due"`, "next_due")
	metrics.RecordState("web", "due", metrics.State{Window: "W", Due: due})
	metrics.Forget(types.NamespacedName{Namespace: "due", Name: "web"})
	expect(t, nil, `namespace="due"`)
}

// A scaler whose windows were never readable has no window, but still a degraded series.
func TestWithoutAWindow(t *testing.T) {
	metrics.RecordState("web", "none", metrics.State{Degraded: true})
	expect(t, nil, `namespace="none"`, "window=")
	expect(t, []string{`kyklos_degraded{namespace="none",tws_name="web"} 1`}, `namespace="none"`, "kyklos_degraded")
}

func TestForgetLeavesNothing(t *testing.T) {
	for _, who := range []string{"web", "web2"} {
		metrics.RecordScaleEvent(who, "gone", 2, 10)
		metrics.RecordScaleEvent(who, "gone", 10, 2)
		metrics.RecordScaleFailure(who, "gone", "Forbidden")
		metrics.RecordDriftCorrection(who, "gone")
		metrics.RecordState(who, "gone", metrics.State{Window: "BusinessHours"})
	}
	kept := series(t, `namespace="gone"`, `tws_name="web2"`)
	metrics.Forget(types.NamespacedName{Namespace: "gone", Name: "web"})
	expect(t, nil, `namespace="gone"`, `tws_name="web"`)
	expect(t, kept, `namespace="gone"`)
	if len(kept) != 6 {
		t.Errorf("the other scaler has %d series, want 6: %q", len(kept), kept)
	}
}

func TestBuckets(t *testing.T) {
	metrics.RecordReconcileDuration(0.2)
	metrics.RecordBoundaryLateness(3)
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]float64{
		"kyklos_reconcile_duration_seconds": {0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0}, // B12
		"kyklos_boundary_lateness_seconds":  {0.01, 0.05, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300},
	}
	for _, family := range families {
		bounds, known := want[family.GetName()]
		if !known {
			continue
		}
		delete(want, family.GetName())
		var got []float64
		for _, bucket := range family.GetMetric()[0].GetHistogram().GetBucket() {
			got = append(got, bucket.GetUpperBound())
		}
		if diff := cmp.Diff(bounds, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", family.GetName(), diff)
		}
	}
	for name := range want {
		t.Errorf("no %s", name)
	}
}

func TestTZData(t *testing.T) {
	metrics.RecordTZData("2025c")
	expect(t, []string{`kyklos_tzdata_info{version="2025c"} 1`}, "kyklos_tzdata_info")
}
