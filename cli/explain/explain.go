// Package explain explains why a schedule asks for its current count: window by window, with holidays, percentages, metrics and
// grace periods, and with the state of a cluster what affects the target. It is pure.
package explain

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/apischema"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// Decider is what determines the count.
type Decider string

// The deciders. They are part of the JSON, which is stable.
const (
	ByWindow  Decider = "Window"
	ByMetric  Decider = "Metric" // the metric of the window that decides
	ByDefault Decider = "Default"
	ByHoliday Decider = "Holiday"
	ByZone    Decider = "UnknownTimezone" // defaultReplicas, because the schedule's zone is unknown (B5)
	ByNothing Decider = "Nothing"         // the spec is invalid (B5) or the scaler is being deleted (B8); the target is left unchanged
)

const (
	// transitionsAhead is how many next changes are shown.
	transitionsAhead = 3
	// daysAhead is how far ahead they are searched: more than a year, after which schedules repeat.
	daysAhead = 400
)

// Explanation is why a schedule asks for a count at an instant.
type Explanation struct {
	Scaler *timeline.Scaler
	At     time.Time // in the schedule's zone, or UTC if that is unknown
	// Answer is a summary of one or two sentences.
	Answer  string
	Decider Decider
	// Replicas is what the schedule asks for, nil with ByNothing. Lowest and Highest are the bounds of a metric that decides.
	Replicas        *int32
	Lowest, Highest int32
	// Window is the label of what decides, as in status.currentWindow (B7).
	Window  string
	Windows []Window
	// Facts are further information, the most important first.
	Facts []Fact
	// Next are the next changes of the count, three at most, up to Until.
	Next  *timeline.Timeline
	Until time.Time

	// Effective is the count with a running grace period; nil without a State.
	Effective *int32

	verdict timecalc.Verdict
}

// Fact is a piece of information under a topic.
type Fact struct {
	Topic string `json:"topic"`
	Text  string `json:"text"`
}

// Holidays are the dates of a schedule.
type Holidays struct {
	Dates map[string]bool
	// Missing: the ConfigMap does not exist, or is not in the files.
	Missing bool
	// Unread is why the user may not read the ConfigMap, "" otherwise.
	Unread string
	// Invalid are keys that are not dates.
	Invalid []string
}

// Explain explains the schedule of a TimeWindowScaler at an instant. state is the cluster's at that instant, nil if unknown.
func Explain(tws *v1beta1.TimeWindowScaler, holidays Holidays, state *State, at time.Time) *Explanation {
	reading := schedule.FromSpec(&tws.Spec, field.NewPath("spec"))
	e := &Explanation{Scaler: &timeline.Scaler{
		Namespace: tws.Namespace, Name: tws.Name, Spec: &tws.Spec, Calendar: reading.Calendar,
		HolidaysMissing: holidays.Missing, HolidaysUnread: holidays.Unread,
	}}
	if state != nil {
		state = state.ofThisTarget()
		e.Scaler.State = &state.Status
	}
	calendar := &e.Scaler.Calendar
	calendar.Holidays = holidays.Dates
	// Everything that makes the controller leave the target unchanged (B5). With an unknown zone, defaultReplicas apply instead.
	invalid := reading.Invalid(refused(&tws.Spec))
	if err := schedule.NamespaceError(tws, field.NewPath("spec", "targetRef")); err != nil {
		invalid = append(invalid, err)
	}
	if reading.ZoneError != nil {
		calendar.Zone, calendar.Windows = time.UTC, nil
	}
	e.At = at.Truncate(time.Second).In(calendar.Zone)
	switch {
	case state != nil && state.Deleting != "":
		return e.nothing("it "+state.Deleting, state)
	case len(invalid) > 0:
		return e.nothing("its spec is invalid, so Kyklos leaves the target as it is: "+invalid.ToAggregate().Error(), state)
	}
	e.decide(reading.ZoneError != nil)
	for i := range calendar.Windows {
		e.Windows = append(e.Windows, e.window(i))
	}
	e.Answer = e.sentence(e.because(reading.ZoneError))
	e.scheduleFacts(holidays)
	e.stateFacts(state)
	e.lookAhead()
	return e
}

// nothing explains a scaler whose target is left unchanged whatever the time.
func (e *Explanation) nothing(because string, state *State) *Explanation {
	e.Decider, e.Answer = ByNothing, e.sentence("asks for nothing: "+because)
	e.conditions(state)
	return e
}

// refused is what the schema refuses, which the API server has not seen if the object was stored in another version.
func refused(spec *v1beta1.TimeWindowScalerSpec) field.ErrorList {
	errs, err := apischema.RefusedSpec(context.Background(), spec)
	if err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec"), err)}
	}
	return errs
}

func (e *Explanation) decide(zoneUnknown bool) {
	calendar := &e.Scaler.Calendar
	e.verdict = calendar.At(e.At)
	if e.Scaler.IsWorkspace() {
		e.verdict.Replicas = min(e.verdict.Replicas, 1) // either runs or is stopped
	}
	e.Window = calendar.Label(e.verdict)
	e.Replicas = &e.verdict.Replicas
	switch {
	case zoneUnknown:
		e.Decider = ByZone
	case e.verdict.Override:
		e.Decider = ByHoliday
	case e.verdict.Window < 0:
		e.Decider = ByDefault
	default:
		e.Decider = ByWindow
		if source := e.Scaler.Spec.Windows[e.verdict.Window].Metric; source != nil {
			e.Decider = ByMetric
			e.Lowest, e.Highest = schedule.MetricBounds(source)
		}
	}
}

// lookAhead finds the next transitions in ever longer periods: most schedules have three within a week, and a year of a schedule
// that changes every few minutes takes long to compute.
func (e *Explanation) lookAhead() {
	for days := 8; ; days *= 4 {
		days = min(days, daysAhead)
		e.Until = e.At.Add(time.Duration(days) * 24 * time.Hour)
		e.Next = timeline.Compute(e.Scaler, e.At, e.Until)
		if len(e.Next.Transitions) >= transitionsAhead || days == daysAhead {
			e.Next.Transitions = e.Next.Transitions[:min(len(e.Next.Transitions), transitionsAhead)]
			return
		}
	}
}
