package explain

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// because is the first sentence of the answer without its subject: what the schedule asks for, and why. It has to be enough for most
// readers.
func (e *Explanation) because(zoneError *field.Error) string {
	asks := "asks for " + amount(e.Scaler, *e.Replicas)
	switch e.Decider {
	case ByZone:
		return fmt.Sprintf("%s: time zone %v is unknown, so defaultReplicas apply", asks, zoneError.BadValue)
	case ByHoliday:
		means := "defaultReplicas all day"
		if e.Scaler.Calendar.HolidayMode == timecalc.HolidayOpen {
			means = "the highest count of all windows all day"
		}
		return fmt.Sprintf("%s: %s is a holiday, and %s means %s", asks, e.verdict.Holiday, e.Scaler.Calendar.HolidayMode, means)
	case ByDefault:
		return asks + ": no window covers this time, so defaultReplicas apply"
	case ByMetric:
		asks = fmt.Sprintf("asks for %d to %d replicas depending on metric %s, and for %d while it has no value",
			e.Lowest, e.Highest, e.Scaler.Spec.Windows[e.verdict.Window].Metric.Name, *e.Replicas)
	}
	return asks + ": " + e.covered()
}

// covered names the window that decides: by its days and times, and its label unless that is a hash.
func (e *Explanation) covered() string {
	covering := 0
	for _, w := range e.Windows {
		if w.State == Decides || w.State == Outranked {
			covering++
		}
	}
	w := &e.Windows[e.verdict.Window]
	name := w.When
	if !timecalc.IsHash(w.Label) {
		name = fmt.Sprintf("%s (%s)", w.Label, w.When)
	}
	if covering > 1 {
		return fmt.Sprintf("window %s is the last in the list of %d windows that cover this time", name, covering)
	}
	return "window " + name + " covers this time"
}

func (e *Explanation) add(topic, format string, args ...any) {
	e.Facts = append(e.Facts, Fact{topic, fmt.Sprintf(format, args...)})
}

func (e *Explanation) scheduleFacts(holidays Holidays) {
	spec := e.Scaler.Spec
	e.add("otherwise", "outside all windows: %s", e.arithmetic(spec.DefaultReplicas, e.Scaler.Calendar.DefaultReplicas))
	e.holidayFacts(holidays)
	if e.Decider == ByMetric {
		metric := spec.Windows[e.verdict.Window].Metric
		e.add("metric", "%s sets the count between %d and %d to keep %s %s%s; after three polls without a value the count is %d",
			metric.Name, e.Lowest, e.Highest, metric.Target.Type, metric.Target.Value, metric.Target.AverageValue, *e.Replicas)
	}
	if grace := e.Scaler.Grace(); grace > 0 {
		e.add("grace period", "scaling down is delayed by %s, scaling up is not", timeline.Span(grace))
	}
	if kept := e.Scaler.KeptArchived(); kept != "" {
		e.add("archived", "%s", kept)
	}
	if spec.Pause {
		e.add("pause", "spec.pause is true: Kyklos reports the desired count, but does not change the target")
	}
}

// holidayFacts is what holidays do on the schedule's current date. A missing ConfigMap is worth a fact although it changes
// nothing: users would look for the mistake in the schedule.
func (e *Explanation) holidayFacts(holidays Holidays) {
	calendar := &e.Scaler.Calendar
	source := schedule.HolidaySource(e.Scaler.Spec)
	today := e.At.Format(time.DateOnly)
	switch {
	case source == "" && e.Scaler.Spec.Holidays != nil:
		e.add("holidays", "the mode is ignore: holidays are normal days")
	case source == "":
	case holidays.Missing:
		e.add("holidays", "ConfigMap %s does not exist: every day is a normal day", source)
	case holidays.Unread != "":
		text := "so every day is explained as a normal day"
		if calendar.Holidays[today] {
			text = "but according to the status today is a holiday"
		}
		e.add("holidays", "you may not read ConfigMap %s, which Kyklos uses, %s: %s", source, text, holidays.Unread)
	case calendar.Holidays[today]:
		e.add("holidays", "%s is listed in ConfigMap %s (%s)", today, source, calendar.HolidayMode)
	default:
		next := ""
		for date := range calendar.Holidays {
			if date > today && (next == "" || date < next) {
				next = date
			}
		}
		if next != "" {
			next = "; the next holiday is " + next
		}
		e.add("holidays", "%s is not listed in ConfigMap %s (%s)%s", today, source, calendar.HolidayMode, next)
	}
	if len(holidays.Invalid) > 0 && source != "" {
		e.add("holidays", "these keys of ConfigMap %s are not dates and are ignored: %s", source, strings.Join(holidays.Invalid, ", "))
	}
}

// stamp is a local time, and the time in UTC: "Mon 2026-11-23 10:00 IST (04:30 UTC)".
func stamp(local time.Time) string {
	clock := "15:04"
	if local.Second() != 0 {
		clock = time.TimeOnly
	}
	text := local.Format("Mon 2006-01-02 " + clock + " MST")
	utc := local.UTC()
	switch {
	case local.Location() == time.UTC || local.Location().String() == "UTC":
		return text
	case utc.Format(time.DateOnly) == local.Format(time.DateOnly):
		return text + " (" + utc.Format(clock) + " UTC)"
	default:
		return text + " (" + utc.Format("Mon "+clock) + " UTC)"
	}
}

func ago(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return timeline.Span(d) + " ago"
}

func in(d time.Duration) string { return "in " + timeline.Span(d) }

// amount is a count with its unit, or its meaning for a Workspace or a DaemonSet.
func amount(s *timeline.Scaler, replicas int32) string {
	switch {
	case s.IsWorkspace() && replicas > 0:
		return "RUNNING"
	case s.IsWorkspace():
		return "STANDBY"
	case s.IsDaemonSet() && replicas > 0:
		return fmt.Sprintf("%d (running)", replicas)
	case s.IsDaemonSet():
		return "0 (suspended)"
	case replicas == 1:
		return "1 replica"
	default:
		return fmt.Sprintf("%d replicas", replicas)
	}
}

// countOf is the count of a window, with the bounds of a metric.
func (e *Explanation) countOf(i int) string {
	window := &e.Scaler.Spec.Windows[i]
	text := e.arithmetic(window.Replicas, e.replicas(i))
	if metric := window.Metric; metric != nil {
		lowest, highest := schedule.MetricBounds(metric)
		text = fmt.Sprintf("%d to %d by metric %s, else %s", lowest, highest, metric.Name, text)
	}
	return text
}

// replicas is the count of a window, whether or not the calendar has it: one whose zone is unknown is left out there.
func (e *Explanation) replicas(i int) int32 {
	count, _ := schedule.Count(e.Scaler.Spec.Windows[i].Replicas, e.Scaler.Spec.BaselineReplicas) // the spec is valid
	return count
}

// arithmetic is a count, and how it follows from a percentage.
func (e *Explanation) arithmetic(written intstr.IntOrString, replicas int32) string {
	baseline := e.Scaler.Spec.BaselineReplicas
	if written.Type == intstr.Int || baseline == nil {
		return e.Scaler.Count(replicas)
	}
	rounded := ""
	var percent int64
	if _, err := fmt.Sscanf(written.StrVal, "%d%%", &percent); err == nil && int64(*baseline)*percent%100 != 0 {
		rounded = ", rounded up"
	}
	return fmt.Sprintf("%s (%s of baselineReplicas %d%s)", e.Scaler.Count(replicas), written.StrVal, *baseline, rounded)
}

func (e *Explanation) sentence(predicate string) string {
	return "At " + stamp(e.At) + " " + e.Scaler.Name + " " + predicate + "."
}
