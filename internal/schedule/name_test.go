package schedule_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/schedule"
)

// What the schema refuses, and an object can bring along that is older than the rule, is reported instead of applied.
func TestWhatTheSchemaRefuses(t *testing.T) {
	messages := golden.NewMessages(t)
	for name, change := range map[string]func(*v1beta1.TimeWindowScalerSpec){
		"spec.windows[0].name: long":      func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Name = strings.Repeat("a", 200) },
		"spec.windows[0].name: control":   func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Name = "a\u0007b" },
		"spec.windows[0].name: dash":      func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Name = "-a" },
		"spec.windows[0].name: off hours": func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Name = "OffHours" },
		"spec.windows[0].name: custom":    func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Name = "Custom-1" },
		"spec.windows[0].replicas: zeros": func(s *v1beta1.TimeWindowScalerSpec) {
			s.Windows[0].Replicas, s.BaselineReplicas = intstr.FromString("0050%"), ptr.To[int32](2)
		},
		"spec.defaultReplicas: negative": func(s *v1beta1.TimeWindowScalerSpec) { s.DefaultReplicas = intstr.FromInt32(-1) },
		"spec.windows[0].metric.minReplicas: negative": func(s *v1beta1.TimeWindowScalerSpec) {
			s.Windows[0].Metric = metric(func(m *v1beta1.WindowMetric) { m.MinReplicas = ptr.To[int32](-5) })
		},
	} {
		reading := schedule.FromSpec(spec(change), field.NewPath("spec"))
		errs := reading.Invalid(nil)
		path, _, _ := strings.Cut(name, ":")
		if len(errs) != 1 || errs[0].Field != path {
			t.Errorf("%s: got %v", name, errs)
			continue
		}
		messages.Add(name, errs[0].ErrorBody())
	}
	for _, valid := range []string{"", "a", "B-1_x.y", strings.Repeat("a", 63)} {
		reading := schedule.FromSpec(spec(func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Name = valid }), field.NewPath("spec"))
		if errs := reading.Invalid(nil); len(errs) > 0 {
			t.Errorf("%q: got %v", valid, errs)
		}
	}
}
