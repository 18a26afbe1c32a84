package admission

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// maxKeysNamed is how many invalid keys one warning names.
const maxKeysNamed = 2

// checkHolidays warns about a ConfigMap that lists no holidays, or not all that its author expects (B6).
// today is the local date, YYYY-MM-DD.
func (all *Findings) checkHolidays(obj *v1beta1.TimeWindowScaler, today string, path *field.Path, facts Facts) {
	name, source := schedule.HolidaySource(&obj.Spec), facts.Holidays
	if name == "" || source == nil {
		return
	}
	other := Other{configMap, name}
	if !source.Exists {
		all.warnOf(other, Holidays, path, "ConfigMap %s does not exist in namespace %s: until it does, holidays are ordinary days",
			quote(name), quote(obj.Namespace))
		return
	}
	dates, invalid := timecalc.ParseHolidayDates(source.Keys)
	if len(invalid) > 0 {
		var keys []string
		for _, key := range invalid {
			keys = append(keys, shorten(key))
		}
		all.warnOf(other, Holidays, path, "ConfigMap %s has keys that are not dates and are ignored: %s; use dates such as 2026-12-25",
			quote(name), firstOf(keys, maxKeysNamed))
	}
	last := ""
	for date := range dates {
		last = max(last, date)
	}
	switch {
	case last == "" && len(invalid) == 0:
		all.warnOf(other, Holidays, path, "ConfigMap %s lists no holidays: add dates such as 2026-12-25 as keys", quote(name))
	case last != "" && last < today:
		all.warnOf(other, Holidays, path, "the last holiday in ConfigMap %s, %s, is in the past: add upcoming holidays", quote(name), last)
	}
}
