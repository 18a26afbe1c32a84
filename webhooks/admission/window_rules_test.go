package admission_test

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/webhooks/admission"
)

func TestWindowWarnings(t *testing.T) {
	day := window("09:00", "17:00", 5, weekdays...)
	checkCases(t, map[string]findingsCase{
		"overlapping":                {obj: office(withWindows(day, window("12:00", "20:00", 8, weekdays...)))},
		"covered by one":             {obj: office(withWindows(day, window("08:00", "20:00", 8, "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"))), want: []string{"window-covered spec.windows[0]"}},
		"same hours, other replicas": {obj: office(withWindows(day, window("09:00", "17:00", 8, weekdays...))), want: []string{"window-covered spec.windows[0]"}},
		"covered by two, others are left out": {obj: office(withWindows(day, window("08:00", "12:00", 6, weekdays...), window("10:00", "11:00", 7, "Mon"),
			window("12:00", "18:00", 8, weekdays...))), want: []string{
			"window-covered spec.windows[0]",
		}},
		"covered by five": {obj: office(withWindows(day, window("09:00", "17:00", 1, "Mon"), window("09:00", "17:00", 2, "Tue"), window("09:00", "17:00", 3, "Wed"),
			window("09:00", "17:00", 4, "Thu"), window("09:00", "17:00", 6, "Fri"))), want: []string{
			"window-covered spec.windows[0]",
		}},
		"across midnight":                     {obj: office(withWindows(window("01:00", "04:00", 1, "Sat"), window("22:00", "05:00", 2, "Fri"))), want: []string{"window-covered spec.windows[0]"}},
		"identical":                           {obj: office(withWindows(day, window("18:00", "20:00", 2, "Mon"), day)), want: []string{"window-repeated spec.windows[0]"}},
		"identical but for the order of days": {obj: office(withWindows(window("09:00", "17:00", 5, "Tue", "Mon"), window("09:00", "17:00", 5, "Mon", "Tue"))), want: []string{"window-repeated spec.windows[0]"}},
		"an invalid one silences the rule":    {obj: office(withWindows(day, day, window("09:00", "09:00", 5, "Mon"))), want: []string{"schedule-invalid spec.windows[2].end: Invalid value"}},
	})
}

// However many windows change nothing, few lines are shown and the rest is counted.
func TestWindowWarningsAreFew(t *testing.T) {
	var many, same []v1beta1.Window
	for i := range 30 {
		many = append(many, window("09:00", fmt.Sprintf("10:%02d", i), int32(i), "Mon"))
		same = append(same, many[0])
	}
	checkCases(t, map[string]findingsCase{
		"covered": {obj: office(withWindows(many...)), want: []string{
			"window-covered spec.windows[0]",
			"window-covered spec.windows[1]",
			"window-covered spec.windows[2]",
			"window-covered spec.windows[3]",
			"window-covered spec.windows",
		}},
		"repeated": {obj: office(withWindows(same...)), want: []string{
			"window-repeated spec.windows[0]",
			"window-repeated spec.windows[1]",
			"window-repeated spec.windows[2]",
			"window-repeated spec.windows[3]",
			"window-repeated spec.windows",
		}},
	})
}

func drawWindows(t *rapid.T, most int) []v1beta1.Window {
	clock := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, "hour"), rapid.SampledFrom([]int{0, 15, 30}).Draw(t, "minute"))
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) v1beta1.Window {
		days := rapid.SliceOfNDistinct(rapid.SampledFrom(append(weekdays, "Sat", "Sun")), 1, 7, rapid.ID).Draw(t, "days")
		w := window(clock.Draw(t, "start"), clock.Draw(t, "end"), rapid.Int32Range(0, 9).Draw(t, "replicas"), days...)
		w.Timezone = rapid.SampledFrom([]string{"", "", "America/Argentina/ComodRivadavia", "Asia/Tokyo", "EST", "Etc/GMT+12", "Mars", "\n"}).Draw(t, "zone")
		if rapid.IntRange(0, 4).Draw(t, "metric") == 0 {
			w.Metric = &v1beta1.WindowMetric{Name: "m", MinReplicas: ptr.To(rapid.Int32().Draw(t, "lowest")), MaxReplicas: rapid.Int32().Draw(t, "highest")}
		}
		return w
	}), 0, most).Draw(t, "windows")
}

// Whatever is written, also what the CRD refuses: the rules do not panic, and what they say is short
// enough for the API server and printable ASCII.
func TestWarningsFitTheirHeader(t *testing.T) {
	name := rapid.OneOf(rapid.StringMatching("[a-z]{1,253}"), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		obj := office(withTarget(name.Draw(t, "namespace"), name.Draw(t, "target")), withWindows(drawWindows(t, 40)...),
			inZone(rapid.SampledFrom([]string{"Europe/Berlin", "America/Argentina/ComodRivadavia", "Etc/GMT-14", "EST", "", "Local", "x"}).Draw(t, "zone")),
			withHolidays(v1beta1.HolidayOpen, &v1beta1.HolidaySource{Name: name.Draw(t, "ConfigMap")}))
		obj.Namespace, obj.Spec.TargetRef.Kind = name.Draw(t, "own namespace"), name.Draw(t, "kind")
		obj.Spec.TargetRef.APIVersion = rapid.SampledFrom([]string{"apps/v1", "", "example.com/v1"}).Draw(t, "group") + name.Draw(t, "version")
		if rapid.Bool().Draw(t, "a DaemonSet") {
			obj.Spec.TargetRef.APIVersion, obj.Spec.TargetRef.Kind = "apps/v1", "DaemonSet"
		}
		if rapid.Bool().Draw(t, "a baseline") {
			obj.Spec.BaselineReplicas = ptr.To(rapid.Int32().Draw(t, "baseline"))
		}
		kind := targetkind.Of(obj.Spec.TargetRef)
		facts := admission.Facts{
			TargetMissing:  rapid.Bool().Draw(t, "missing"),
			Unscalable:     rapid.SampledFrom([]error{nil, &targetkind.UnknownError{Kind: kind}, &targetkind.NotScalableError{Kind: kind}}).Draw(t, "unscalable"),
			Forbidden:      rapid.SampledFrom([]*targetkind.ForbiddenError{nil, {Kind: targetkind.Kind{GroupVersionKind: kind, Resource: name.Draw(t, "resource")}}}).Draw(t, "forbidden"),
			MetricsMissing: rapid.Bool().Draw(t, "no metrics"),
			Autoscalers:    []string{name.Draw(t, "HPA")},
			Owner:          rival(name.Draw(t, "rival"), rapid.SampledFrom([]time.Duration{-1, 1}).Draw(t, "age")*time.Hour, "r"),
			Holidays:       &admission.HolidaySource{Exists: rapid.Bool().Draw(t, "exists"), Keys: rapid.SliceOfN(name, 0, 5).Draw(t, "keys")},
		}
		var old *v1beta1.TimeWindowScaler
		if rapid.Bool().Draw(t, "update") {
			old = obj.DeepCopy()
		}
		for _, warning := range admission.CheckTimeWindowScaler(obj, old, facts, november).Warnings() {
			if len(warning) >= 250 {
				t.Errorf("%d bytes: %s", len(warning), warning)
			}
			for _, c := range []byte(warning) {
				if c < ' ' || c > '~' {
					t.Fatalf("byte %#x in %q", c, warning)
				}
			}
		}
	})
}
