package explain

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
)

// stamp is a time on its own clock, and in UTC: "Mon 2026-11-23 10:00 IST (04:30 UTC)".
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

// ago and in are the way back to an instant, and to one that is to come.
func ago(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return timeline.Span(d) + " ago"
}

func in(d time.Duration) string { return "in " + timeline.Span(d) }

// amount is a count with its unit: "1 replica"; for a Workspace and a DaemonSet, what it means.
func amount(s *timeline.Scaler, replicas int32) string {
	switch {
	case s.IsWorkspace() && replicas > 0:
		return "RUNNING"
	case s.IsWorkspace():
		return "STANDBY"
	case s.IsDaemonSet() && replicas > 0:
		return fmt.Sprintf("%d (to run)", replicas)
	case s.IsDaemonSet():
		return "0 (to be suspended)"
	case replicas == 1:
		return "1 replica"
	default:
		return fmt.Sprintf("%d replicas", replicas)
	}
}

// countOf is what a window of the list asks for, with the arithmetic.
func (e *Explanation) countOf(i int) string {
	window := &e.Scaler.Spec.Windows[i]
	text := e.arithmetic(window.Replicas, e.Scaler.Calendar.Windows[i].Replicas())
	if metric := window.Metric; metric != nil {
		lowest, highest := schedule.MetricBounds(metric)
		text = fmt.Sprintf("%d to %d by metric %s, else %s", lowest, highest, metric.Name, text)
	}
	return text
}

// arithmetic is a count as it was written, and what it comes to, so that nobody has to work out a percentage.
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

// sentence puts the time and the scaler's name before what is said of it.
func (e *Explanation) sentence(said string) string {
	return "At " + stamp(e.At) + " " + e.Scaler.Name + " " + said + "."
}
