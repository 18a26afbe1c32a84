package schedule_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/schedule"
)

func metric(change func(*v1beta1.WindowMetric)) *v1beta1.WindowMetric {
	m := &v1beta1.WindowMetric{
		Name:        "queue_depth",
		Target:      v1beta1.MetricTarget{Type: v1beta1.MetricAverageValue, AverageValue: "30"},
		MaxReplicas: 20,
	}
	change(m)
	return m
}

func TestAReadableMetric(t *testing.T) {
	type reading struct {
		Selector        string
		Target          int64
		Lowest, Highest int32
	}
	for name, tc := range map[string]struct {
		change func(*v1beta1.WindowMetric)
		want   reading
	}{
		"the least": {func(*v1beta1.WindowMetric) {}, reading{"", 30_000, 1, 20}},
		"a value below 1": {func(m *v1beta1.WindowMetric) {
			m.Target = v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "0.5"}
		}, reading{"", 500, 1, 20}},
		"a thousandth":      {func(m *v1beta1.WindowMetric) { m.Target.AverageValue = "0.001" }, reading{"", 1, 1, 20}},
		"binary":            {func(m *v1beta1.WindowMetric) { m.Target.AverageValue = "1Ki" }, reading{"", 1_024_000, 1, 20}},
		"from none":         {func(m *v1beta1.WindowMetric) { m.MinReplicas = ptr.To[int32](0) }, reading{"", 30_000, 0, 20}},
		"an empty selector": {func(m *v1beta1.WindowMetric) { m.Selector = &v1beta1.MetricSelector{} }, reading{"", 30_000, 1, 20}},
		"a selector": {func(m *v1beta1.WindowMetric) {
			m.Selector = &v1beta1.MetricSelector{MatchLabels: map[string]v1beta1.LabelValue{"queue": "mail"},
				MatchExpressions: []v1beta1.MetricSelectorRequirement{{Key: "zone", Operator: "Exists"}}}
		}, reading{"queue=mail,zone", 30_000, 1, 20}},
	} {
		parsed := schedule.FromSpec(&v1beta1.TimeWindowScalerSpec{Windows: []v1beta1.Window{{Metric: metric(tc.change)}}}, field.NewPath("spec"))
		m, errs := parsed.Metrics[0], parsed.MetricErrors
		if len(errs) > 0 {
			t.Errorf("%s: %v", name, errs.ToAggregate())
			continue
		}
		if diff := cmp.Diff(tc.want, reading{m.Selector.String(), m.Target, m.Lowest, m.Highest}); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func metricErrors(spec *v1beta1.TimeWindowScalerSpec) field.ErrorList {
	reading := schedule.FromSpec(spec, field.NewPath("spec"))
	return reading.MetricErrors
}

func TestMetricErrors(t *testing.T) {
	const metricPath = "spec.windows[1].metric."
	messages := golden.NewMessages(t)
	for name, tc := range map[string]struct {
		change func(*v1beta1.WindowMetric)
		want   mistake
	}{
		"no name": {func(m *v1beta1.WindowMetric) { m.Name = "" }, mistake{field.ErrorTypeRequired, metricPath + "name", ""}},
		"no quantity": {func(m *v1beta1.WindowMetric) { m.Target.AverageValue = "many" },
			mistake{field.ErrorTypeInvalid, metricPath + "target.averageValue", "many"}},
		"zero": {func(m *v1beta1.WindowMetric) { m.Target.AverageValue = "0" },
			mistake{field.ErrorTypeInvalid, metricPath + "target.averageValue", "0"}},
		"no value": {func(m *v1beta1.WindowMetric) { m.Target.Type = v1beta1.MetricValue },
			mistake{field.ErrorTypeInvalid, metricPath + "target.value", ""}},
		"unknown type": {func(m *v1beta1.WindowMetric) { m.Target.Type = "Utilization" },
			mistake{field.ErrorTypeNotSupported, metricPath + "target.type", v1beta1.MetricTargetType("Utilization")}},
		"maxReplicas below minReplicas": {func(m *v1beta1.WindowMetric) { m.MinReplicas = ptr.To[int32](21) },
			mistake{field.ErrorTypeInvalid, metricPath + "maxReplicas", int32(20)}},
		"no maxReplicas": {func(m *v1beta1.WindowMetric) { m.MaxReplicas = 0 },
			mistake{field.ErrorTypeInvalid, metricPath + "maxReplicas", int32(0)}},
	} {
		errs := metricErrors(spec(func(s *v1beta1.TimeWindowScalerSpec) {
			s.Windows = append(s.Windows, *s.Windows[0].DeepCopy())
			s.Windows[1].Metric = metric(tc.change)
		}))
		if len(errs) != 1 {
			t.Fatalf("%s: %v", name, errs)
		}
		if diff := cmp.Diff(tc.want, mistakeOf(errs[0])); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		messages.Add(tc.want.Field, errs[0].Detail)
	}
	bad := spec(func(s *v1beta1.TimeWindowScalerSpec) {
		s.Windows[0].Metric = metric(func(m *v1beta1.WindowMetric) {
			m.Selector = &v1beta1.MetricSelector{MatchLabels: map[string]v1beta1.LabelValue{"a b": "c"}}
		})
	})
	if errs := metricErrors(bad); len(errs) != 1 || errs[0].Field != "spec.windows[0].metric.selector" {
		t.Errorf("a label that is none: %v", errs)
	}
}

// A quantity outside the range becomes the end of the range.
func TestMilli(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1000, "0.5": 500, "500m": 500, "-2": -2000, "1.0001": 1001,
		"9223372036854775807m": math.MaxInt64, "9223372036854775808m": math.MaxInt64, "1e30": math.MaxInt64, "9E": math.MaxInt64,
		"-1e30": math.MinInt64, "-9E": math.MinInt64,
	} {
		if got := schedule.Milli(resource.MustParse(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.Int64().Draw(t, "milli")
		if got := schedule.Milli(*resource.NewMilliQuantity(want, resource.DecimalSI)); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}
