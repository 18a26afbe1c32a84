package timeline

import (
	"cmp"
	"fmt"
	"time"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/schedule"
)

// Target is what is scaled, for people: "Deployment webapp".
func (s *Scaler) Target() string { return s.Spec.TargetRef.Kind + " " + s.Spec.TargetRef.Name }

// IsWorkspace reports whether the target is a Workspace, of which a count says no more than whether it runs.
func (s *Scaler) IsWorkspace() bool {
	return s.Spec.TargetRef.Kind == "Workspace" && s.Spec.TargetRef.APIVersion == v1alpha1.GroupVersion.String()
}

// IsDaemonSet reports whether the target is a DaemonSet, of which a count says no more than whether it is suspended.
func (s *Scaler) IsDaemonSet() bool {
	return s.Spec.TargetRef.Kind == "DaemonSet" && cmp.Or(s.Spec.TargetRef.APIVersion, "apps/v1") == "apps/v1"
}

// Count is a number of replicas as people should read it: for a Workspace and a DaemonSet with what it means.
func (s *Scaler) Count(replicas int32) string {
	text := fmt.Sprint(replicas)
	switch {
	case s.IsWorkspace() && replicas == 0:
		return text + " STANDBY"
	case s.IsWorkspace():
		return text + " RUNNING"
	case s.IsDaemonSet() && replicas == 0:
		return text + " suspended"
	default:
		return text
	}
}

// Notes are what else people should know of a schedule and its numbers, in sentences. Times are shown in zone.
func (s *Scaler) Notes(zone *time.Location) []string {
	var notes []string
	if s.Spec.Pause {
		notes = append(notes, fmt.Sprintf("It is paused (spec.pause): Kyklos leaves the %s alone. This is what the schedule asks for.", s.Spec.TargetRef.Kind))
	}
	notes = append(notes, s.state(zone)...)
	if grace := s.Grace(); grace > 0 {
		notes = append(notes, fmt.Sprintf("A lower count waits %s (spec.gracePeriodSeconds). The replica-hours do not count the wait.", Span(grace)))
	}
	notes = append(notes, s.metrics()...)
	switch {
	case s.IsWorkspace():
		notes = append(notes, "A Workspace stops at 0 (STANDBY) and runs at any other count (RUNNING), which is 1.")
	case s.IsDaemonSet():
		notes = append(notes, "A DaemonSet is suspended at 0 and runs on its nodes at any other count. Its replica-hours are those of the schedule, not of its pods.")
	}
	if note := s.UnknownHolidays(); note != "" {
		notes = append(notes, note)
	}
	return notes
}

// UnknownHolidays says in a sentence why the holidays of a schedule are not known, "" if they are.
func (s *Scaler) UnknownHolidays() string {
	switch source := schedule.HolidaySource(s.Spec); {
	case s.HolidaysMissing:
		return fmt.Sprintf("The holidays are not known: no ConfigMap %s was found. Its dates are shown as ordinary days; give it with -f or --holidays.", source)
	case s.HolidaysUnread != "":
		return fmt.Sprintf("The holidays are not known: you may not read ConfigMap %s, which Kyklos goes by (%s). "+
			"Its dates are shown as ordinary days; give them with --holidays.", source, s.HolidaysUnread)
	}
	return ""
}

// metrics tells of the windows whose count follows a metric.
func (s *Scaler) metrics() (notes []string) {
	for i := range s.Spec.Windows {
		metric := s.Spec.Windows[i].Metric
		if metric == nil {
			continue
		}
		lowest, highest := schedule.MetricBounds(metric)
		notes = append(notes, fmt.Sprintf("In the window %s the metric %s sets the count, from %d to %d. The %d shown is what it falls back on without a value.",
			s.Calendar.Label(verdictOf(i)), metric.Name, lowest, highest, s.Calendar.Windows[i].Replicas()))
	}
	return notes
}

// state tells of what the cluster says.
func (s *Scaler) state(zone *time.Location) (notes []string) {
	if s.State == nil {
		return nil
	}
	if effective := s.State.EffectiveReplicas; effective != nil {
		note := fmt.Sprintf("In the cluster it asks for %d now", *effective)
		if observed := s.State.TargetObservedReplicas; observed != nil {
			note += fmt.Sprintf(", and the %s has %d", s.Spec.TargetRef.Kind, *observed)
		}
		notes = append(notes, note+".")
	}
	if expiry := s.State.GracePeriodExpiry; expiry != nil {
		notes = append(notes, fmt.Sprintf("A grace period runs: the lower count applies at %s.", expiry.In(zone).Format(LocalTime)))
	}
	if s.State.Holiday != "" {
		notes = append(notes, fmt.Sprintf("Today, %s, is a holiday.", s.State.Holiday))
	}
	return notes
}
