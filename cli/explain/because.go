package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// because is the answer without its beginning: what the schedule asks for, and why. The first sentence has to be enough for most who
// ask: everything else stands below it.
func (e *Explanation) because(zoneError *field.Error) string {
	asks := "asks for " + amount(e.Scaler, *e.Replicas)
	switch e.Decider {
	case ByZone:
		return fmt.Sprintf("%s: the time zone %v is not known here, so defaultReplicas apply", asks, zoneError.BadValue)
	case ByHoliday:
		means := "defaultReplicas all day"
		if e.Scaler.Calendar.HolidayMode == timecalc.HolidayOpen {
			means = "the highest count of all windows all day"
		}
		return fmt.Sprintf("%s: %s is a holiday, and %s means %s", asks, e.verdict.Holiday, e.Scaler.Calendar.HolidayMode, means)
	case ByDefault:
		return asks + ": no window covers it, so defaultReplicas apply"
	case ByMetric:
		asks = fmt.Sprintf("asks for %d to %d replicas, as the metric %s says, and for %d while that has no value",
			e.Lowest, e.Highest, e.Scaler.Spec.Windows[e.verdict.Window].Metric.Name, *e.Replicas)
	}
	return asks + ": " + e.covered()
}

// covered names the window that decides.
func (e *Explanation) covered() string {
	covering := 0
	for _, w := range e.Windows {
		if w.State == Decides || w.State == Outranked {
			covering++
		}
	}
	name := e.name(e.verdict.Window)
	if covering > 1 {
		return fmt.Sprintf("of the %d windows that cover it the last in the list decides, %s", covering, name)
	}
	return "window " + name + " covers it"
}

// name is how a window is called in sentences: its label, unless that is a hash, and its days and times.
func (e *Explanation) name(i int) string {
	w := &e.Windows[i]
	if timecalc.IsHash(w.Label) {
		return w.When
	}
	return fmt.Sprintf("%s (%s)", w.Label, w.When)
}

// add puts a fact behind those that there are.
func (e *Explanation) add(topic, format string, args ...any) {
	e.Facts = append(e.Facts, Fact{topic, fmt.Sprintf(format, args...)})
}

// scheduleFacts are those that follow from the spec and the holidays. They hold with and without a cluster.
func (e *Explanation) scheduleFacts(holidays Holidays) {
	spec := e.Scaler.Spec
	e.add("otherwise", "outside all windows: %s", e.arithmetic(spec.DefaultReplicas, e.Scaler.Calendar.DefaultReplicas))
	e.holidayFacts(holidays)
	if e.Decider == ByMetric {
		metric := spec.Windows[e.verdict.Window].Metric
		e.add("metric", "%s keeps %s %s%s and sets the count between %d and %d; after three polls without a value it is %d (external metrics)",
			metric.Name, metric.Target.Type, metric.Target.Value, metric.Target.AverageValue, e.Lowest, e.Highest, *e.Replicas)
	}
	if grace := e.Scaler.Grace(); grace > 0 {
		e.add("grace period", "a lower count waits %s, a higher one never", timeline.Span(grace))
	}
	if spec.Pause {
		e.add("pause", "spec.pause is true: Kyklos computes and reports, and leaves the target alone")
	}
}

// holidayFacts say what holidays do today, by the schedule's own date. A ConfigMap that is missing changes nothing, and yet it is
// told: people would look for the mistake in the schedule.
func (e *Explanation) holidayFacts(holidays Holidays) {
	calendar := &e.Scaler.Calendar
	source := schedule.HolidaySource(e.Scaler.Spec)
	today := e.At.Format(time.DateOnly)
	switch {
	case source == "" && e.Scaler.Spec.Holidays != nil:
		e.add("holidays", "the mode is ignore: every day is a day like any other")
	case source == "":
	case holidays.Missing:
		e.add("holidays", "ConfigMap %s is not there: every day counts as a normal day", source)
	case holidays.Unread != "":
		text := "so every day is explained as a normal day"
		if calendar.Holidays[today] {
			text = "but today is a holiday, as the status says"
		}
		e.add("holidays", "you may not read ConfigMap %s, which Kyklos goes by, %s: %s", source, text, holidays.Unread)
	case calendar.Holidays[today]:
		e.add("holidays", "%s is listed in ConfigMap %s (%s)", today, source, calendar.HolidayMode)
	default:
		text := fmt.Sprintf("%s is not listed in ConfigMap %s (%s)", today, source, calendar.HolidayMode)
		if next := nextDate(calendar.Holidays, today); next != "" {
			text += "; the next is " + next
		}
		e.add("holidays", "%s", text)
	}
	if len(holidays.Invalid) > 0 && source != "" {
		e.add("holidays", "these keys of ConfigMap %s are no dates, and do nothing: %s", source, strings.Join(holidays.Invalid, ", "))
	}
}

// nextDate is the first listed date after today, "" if there is none.
func nextDate(listed map[string]bool, today string) string {
	var later []string
	for date := range listed {
		if date > today {
			later = append(later, date)
		}
	}
	if len(later) == 0 {
		return ""
	}
	return slices.Min(later)
}
