package admission_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/webhooks/admission"
)

func TestWindowWarnings(t *testing.T) {
	day := window("09:00", "17:00", 5, weekdays...)
	const lastDecides = ", and of the windows that cover a moment the last in the list decides"
	checkWarnings(t, map[string]warningCase{
		"overlapping": {obj: office(withWindows(day, window("12:00", "20:00", 8, weekdays...)))},
		"covered by one": {obj: office(withWindows(day, window("08:00", "20:00", 8, "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"))), want: []string{
			"spec.windows[0] (Mon-Fri 09:00-17:00) never takes effect: spec.windows[1] (Mon-Sat 08:00-20:00) covers all of it" + lastDecides}},
		"same hours, other replicas": {obj: office(withWindows(day, window("09:00", "17:00", 8, weekdays...))), want: []string{
			"spec.windows[0] (Mon-Fri 09:00-17:00) never takes effect: spec.windows[1] (Mon-Fri 09:00-17:00) covers all of it" + lastDecides}},
		"covered by two, others are left out": {obj: office(withWindows(day, window("08:00", "12:00", 6, weekdays...), window("10:00", "11:00", 7, "Mon"),
			window("12:00", "18:00", 8, weekdays...))), want: []string{
			"spec.windows[0] (Mon-Fri 09:00-17:00) never takes effect: spec.windows[1] and spec.windows[3] together cover all of it" + lastDecides}},
		"covered by five": {obj: office(withWindows(day, window("09:00", "17:00", 1, "Mon"), window("09:00", "17:00", 2, "Tue"), window("09:00", "17:00", 3, "Wed"),
			window("09:00", "17:00", 4, "Thu"), window("09:00", "17:00", 6, "Fri"))), want: []string{
			"spec.windows[0] (Mon-Fri 09:00-17:00) never takes effect: spec.windows[1], spec.windows[2], spec.windows[3], 1 more and spec.windows[5] together cover all of it" + lastDecides}},
		"across midnight": {obj: office(withWindows(window("01:00", "04:00", 1, "Sat"), window("22:00", "05:00", 2, "Fri"))), want: []string{
			"spec.windows[0] (Sat 01:00-04:00) never takes effect: spec.windows[1] (Fri 22:00-05:00) covers all of it" + lastDecides}},
		"identical": {obj: office(withWindows(day, window("18:00", "20:00", 2, "Mon"), day)), want: []string{
			"spec.windows[0] (Mon-Fri 09:00-17:00) never takes effect: spec.windows[2] is the same" + lastDecides}},
		"identical but for the order of days": {obj: office(withWindows(window("09:00", "17:00", 5, "Tue", "Mon"), window("09:00", "17:00", 5, "Mon", "Tue"))), want: []string{
			"spec.windows[0] (Mon,Tue 09:00-17:00) never takes effect: spec.windows[1] is the same" + lastDecides}},
		"an invalid one silences the rule": {obj: office(withWindows(day, day, window("09:00", "09:00", 5, "Mon")))},
	})
}

// However many windows change nothing, few lines are shown and the rest is counted.
func TestWindowWarningsAreFew(t *testing.T) {
	var many, same []v1beta1.Window
	for i := range 30 {
		many = append(many, window("09:00", fmt.Sprintf("10:%02d", i), int32(i), "Mon"))
		same = append(same, many[0])
	}
	const lastDecides = ", and of the windows that cover a moment the last in the list decides"
	var covered, repeated []string
	for i := range 4 {
		covered = append(covered, fmt.Sprintf("spec.windows[%d] (Mon 09:00-10:%02d) never takes effect: spec.windows[29] (Mon 09:00-10:29) covers all of it%s", i, i, lastDecides))
		repeated = append(repeated, fmt.Sprintf("spec.windows[%d] (Mon 09:00-10:00) never takes effect: spec.windows[%d] is the same%s", i, i+1, lastDecides))
	}
	checkWarnings(t, map[string]warningCase{
		"covered":  {obj: office(withWindows(many...)), want: append(covered, "spec.windows: 25 more windows never take effect")},
		"repeated": {obj: office(withWindows(same...)), want: append(repeated, "spec.windows: 25 more windows are the same as a later one")},
	})
}

func drawWindows(t *rapid.T, most int) []v1beta1.Window {
	clock := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, "hour"), rapid.SampledFrom([]int{0, 15, 30}).Draw(t, "minute"))
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) v1beta1.Window {
		days := rapid.SliceOfNDistinct(rapid.SampledFrom(append(weekdays, "Sat", "Sun")), 1, 7, rapid.ID).Draw(t, "days")
		return window(clock.Draw(t, "start"), clock.Draw(t, "end"), rapid.Int32Range(0, 9).Draw(t, "replicas"), days...)
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
		facts := admission.Facts{
			TargetMissing: rapid.Bool().Draw(t, "missing"),
			Autoscalers:   []string{name.Draw(t, "HPA")},
			Rivals:        []*v1beta1.TimeWindowScaler{rival(name.Draw(t, "rival"), rapid.SampledFrom([]time.Duration{-1, 1}).Draw(t, "age")*time.Hour, "r")},
			Holidays:      &admission.HolidaySource{Exists: rapid.Bool().Draw(t, "exists"), Keys: rapid.SliceOfN(name, 0, 5).Draw(t, "keys")},
		}
		var old *v1beta1.TimeWindowScaler
		if rapid.Bool().Draw(t, "update") {
			old = obj.DeepCopy()
		}
		admission.ValidateTimeWindowScaler(obj, old, facts)
		for _, warning := range admission.WarnTimeWindowScaler(obj, old, facts, november) {
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
