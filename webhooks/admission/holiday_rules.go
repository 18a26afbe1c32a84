package admission

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// maxKeysNamed is how many keys that are no dates one warning names.
const maxKeysNamed = 2

// holidayWarnings says what keeps the holidays from being observed (B6). today is the local date,
// YYYY-MM-DD.
func holidayWarnings(obj *v1beta1.TimeWindowScaler, today string, path *field.Path, facts Facts) []string {
	name, source := schedule.HolidaySource(&obj.Spec), facts.Holidays
	if name == "" || source == nil {
		return nil
	}
	if !source.Exists {
		return []string{fmt.Sprintf("%s: there is no ConfigMap %s in namespace %s yet: until there is, holidays are days like any other",
			path, quote(name), quote(obj.Namespace))}
	}
	dates, invalid := timecalc.ParseHolidayDates(source.Keys)
	var warnings []string
	if len(invalid) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s: ConfigMap %s has keys that are not dates and are ignored: %s; a key is a date such as 2026-12-25",
			path, quote(name), listKeys(invalid)))
	}
	last := ""
	for date := range dates {
		last = max(last, date)
	}
	switch {
	case last == "" && len(invalid) == 0:
		warnings = append(warnings, fmt.Sprintf("%s: ConfigMap %s lists no holidays: add keys that are dates, such as 2026-12-25",
			path, quote(name)))
	case last != "" && last < today:
		warnings = append(warnings, fmt.Sprintf("%s: the last holiday in ConfigMap %s is %s, which is past: add the holidays to come",
			path, quote(name), last))
	}
	return warnings
}

// listKeys names the first of the keys and counts the rest.
func listKeys(keys []string) string {
	var named []string
	for _, key := range keys[:min(maxKeysNamed, len(keys))] {
		named = append(named, shorten(key))
	}
	list := strings.Join(named, ", ")
	if rest := len(keys) - len(named); rest > 0 {
		list += fmt.Sprintf(" and %d more", rest)
	}
	return list
}
