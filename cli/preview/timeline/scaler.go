package timeline

import (
	"cmp"
	"fmt"
	"time"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// Scaler is a TimeWindowScaler as a timeline needs it.
type Scaler struct {
	Namespace, Name string
	// Spec is what Calendar was read from.
	Spec     *v1beta1.TimeWindowScalerSpec
	Calendar timecalc.Calendar
	// HolidaysMissing: the schedule follows holidays whose ConfigMap was not found. All dates count as normal days.
	HolidaysMissing bool
	// HolidaysUnread is why the user may not read that ConfigMap, "" otherwise. All dates count as normal days, except
	// the holiday that State names.
	HolidaysUnread string
	// State is the status of the object in a cluster, nil for an object from a file.
	State *v1beta1.TimeWindowScalerStatus
}

// followsHolidays reports whether listed dates matter. In mode ignore they do not.
func (s *Scaler) followsHolidays() bool {
	mode := s.Calendar.HolidayMode
	return mode == timecalc.HolidayClosed || mode == timecalc.HolidayOpen
}

// Grace is how long scale-down is delayed.
func (s *Scaler) Grace() time.Duration { return time.Duration(s.Spec.GracePeriodSeconds) * time.Second }

// Target is the target for people: "Deployment webapp".
func (s *Scaler) Target() string { return s.Spec.TargetRef.Kind + " " + s.Spec.TargetRef.Name }

// IsWorkspace reports whether the target is a Workspace, which either runs or is stopped.
func (s *Scaler) IsWorkspace() bool {
	return s.Spec.TargetRef.Kind == "Workspace" && s.Spec.TargetRef.APIVersion == v1alpha1.GroupVersion.String()
}

// IsDaemonSet reports whether the target is a DaemonSet, which either runs or is suspended.
func (s *Scaler) IsDaemonSet() bool {
	return s.Spec.TargetRef.Kind == "DaemonSet" && cmp.Or(s.Spec.TargetRef.APIVersion, "apps/v1") == "apps/v1"
}

// KeptArchived is which archived Workspace a window does not start, "" if it starts any and for other targets.
func (s *Scaler) KeptArchived() string {
	days := schedule.ArchivedDays(s.Spec.Workspace)
	switch {
	case !s.IsWorkspace():
		return ""
	case s.Spec.Workspace != nil && s.Spec.Workspace.KeepArchived:
		return "an archived Workspace stays archived (spec.workspace.keepArchived)"
	case days == 0:
		return ""
	default:
		return fmt.Sprintf("an archived Workspace that was not used for more than %d days stays archived (spec.workspace.keepArchivedAfterDays)", days)
	}
}

// Count is a number of replicas for people: for a Workspace or a DaemonSet with its meaning.
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

// Describe is a label for people. The label of a window without a name is a hash, which becomes its days and times.
func (s *Scaler) Describe(label string) string {
	if !timecalc.IsHash(label) {
		return label
	}
	for i, window := range s.Calendar.Windows {
		if s.windowLabel(i) == label {
			return window.String()
		}
	}
	return label
}

func (s *Scaler) windowLabel(i int) string { return s.Calendar.Label(timecalc.Verdict{Window: i}) }

// Window is a line of the list of windows.
type Window struct {
	Label    string // as in Segment.Window
	When     string // days and times, the zone if the window has its own, and the bounds of a metric
	Replicas int32
}

// Windows lists the windows in order, of which the last one that covers an instant decides, and finally the default.
func (s *Scaler) Windows() []Window {
	var all []Window
	for i, w := range s.Calendar.Windows {
		when := w.String()
		if metric := s.Spec.Windows[i].Metric; metric != nil {
			lowest, highest := schedule.MetricBounds(metric)
			when += fmt.Sprintf(", by metric %d to %d", lowest, highest)
		}
		all = append(all, Window{s.windowLabel(i), when, w.Replicas()})
	}
	return append(all, Window{timecalc.LabelOffHours, "otherwise", s.Calendar.DefaultReplicas})
}

// HolidayText is what happens on holidays, "" if the schedule does not follow any.
func (s *Scaler) HolidayText() string {
	source := schedule.HolidaySource(s.Spec)
	switch s.Calendar.HolidayMode {
	case timecalc.HolidayClosed:
		return "ConfigMap " + source + ", treat-as-closed: defaultReplicas all day"
	case timecalc.HolidayOpen:
		return "ConfigMap " + source + ", treat-as-open: the highest count of all windows all day"
	default:
		return ""
	}
}

// Notes is what else people should know about a schedule and its numbers. Times are shown in zone.
func (s *Scaler) Notes(zone *time.Location) (notes []string) {
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if s.Spec.Pause {
		add("The schedule is paused (spec.pause): Kyklos does not change the %s. The counts are what the schedule would ask for.", s.Spec.TargetRef.Kind)
	}
	s.addState(add, zone)
	if grace := s.Grace(); grace > 0 {
		add("Scaling down is delayed by %s (spec.gracePeriodSeconds). The replica-hours do not include the delay.", Span(grace))
	}
	for i := range s.Spec.Windows {
		if metric := s.Spec.Windows[i].Metric; metric != nil {
			lowest, highest := schedule.MetricBounds(metric)
			add("In the window %s the metric %s sets the count, from %d to %d. The %d shown is the fallback while the metric has no value.",
				s.Describe(s.windowLabel(i)), metric.Name, lowest, highest, s.Calendar.Windows[i].Replicas())
		}
	}
	switch {
	case s.IsWorkspace():
		add("A Workspace is STANDBY at 0, and RUNNING at any other count, which is shown as 1.")
		if s.Spec.Workspace == nil || !s.Spec.Workspace.StopWhileInUse {
			add("One that is in use at the end of a window stays until nobody uses it.")
		}
		if kept := s.KeptArchived(); kept != "" {
			add("At the start of a window %s.", kept)
		}
	case s.IsDaemonSet():
		add("A DaemonSet is suspended at 0, and runs on its nodes at any other count. The replica-hours are those of the schedule, not of its pods.")
	}
	switch policy := schedule.DriftPolicy(s.Spec); {
	case policy == v1beta1.DriftUntilBoundary && !s.IsWorkspace():
		add("What others set between two of these changes stays until the next one (spec.driftPolicy).")
	case policy == v1beta1.DriftEnforce && s.IsWorkspace():
		add("A state that others set is set back at once (spec.driftPolicy).")
	}
	if unknown := s.UnknownHolidays(); unknown != "" {
		add("%s", unknown)
	}
	return notes
}

// UnknownHolidays is why the holidays of a schedule are not known, "" if they are.
func (s *Scaler) UnknownHolidays() string {
	switch source := schedule.HolidaySource(s.Spec); {
	case s.HolidaysMissing:
		return fmt.Sprintf("The holidays are unknown: ConfigMap %s was not found. Its dates are shown as normal days; pass it with -f or --holidays.", source)
	case s.HolidaysUnread != "":
		return fmt.Sprintf("The holidays are unknown: you may not read ConfigMap %s, which Kyklos uses (%s). "+
			"Its dates are shown as normal days; pass them with --holidays.", source, s.HolidaysUnread)
	}
	return ""
}

func (s *Scaler) addState(add func(string, ...any), zone *time.Location) {
	if s.State == nil {
		return
	}
	if effective := s.State.EffectiveReplicas; effective != nil {
		observed := ""
		if s.State.TargetObservedReplicas != nil {
			observed = fmt.Sprintf(", and the %s has %d", s.Spec.TargetRef.Kind, *s.State.TargetObservedReplicas)
		}
		add("In the cluster, the effective count is %d now%s.", *effective, observed)
	}
	if expiry := s.State.GracePeriodExpiry; expiry != nil {
		add("A grace period is running: the lower count applies from %s.", expiry.In(zone).Format(LocalTime))
	}
	if s.State.Holiday != "" {
		add("Today, %s, is a holiday.", s.State.Holiday)
	}
}
