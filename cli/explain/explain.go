package explain

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

// Decider says what gives the number.
type Decider string

// The deciders. They are part of the JSON, which is stable.
const (
	ByWindow  Decider = "Window"
	ByMetric  Decider = "Metric" // of the window that decides
	ByDefault Decider = "Default"
	ByHoliday Decider = "Holiday"
	ByZone    Decider = "UnknownTimezone" // defaultReplicas, because the schedule's zone is not known here (B5)
	ByNothing Decider = "Nothing"         // the spec cannot be followed, and the target is left alone (B5)
)

const (
	// transitionsAhead is how many are shown.
	transitionsAhead = 3
	// daysAhead is how far they are looked for at most: a year has everything that a schedule does, but for clock changes.
	daysAhead = 400
)

// Explanation is why a schedule asks for a number at an instant.
type Explanation struct {
	Scaler *timeline.Scaler
	At     time.Time // in the schedule's zone, or UTC if that is not known
	// Answer is all of it in a sentence or two.
	Answer  string
	Decider Decider
	// Replicas is what the schedule asks for, and Lowest and Highest the bounds where a metric decides that is not known; nil with
	// ByNothing.
	Replicas        *int32
	Lowest, Highest int32
	// Window is the label of what decides, as status.currentWindow has it (B7).
	Window  string
	Windows []Window
	// Facts are what else there is to know, in the order in which it matters.
	Facts []Fact
	// Next are the next changes of the count, three at most, and Until where nobody looked further.
	Next  *timeline.Timeline
	Until time.Time

	// Effective is what the target should have now, a running grace period included; nil without a State.
	Effective *int32

	verdict timecalc.Verdict
}

// Fact is something to know, under a topic in a word or two.
type Fact struct {
	Topic string `json:"topic"`
	Text  string `json:"text"`
}

// Holidays are the dates that a schedule goes by.
type Holidays struct {
	Dates map[string]bool
	// Missing: the ConfigMap is not there, or not among the files.
	Missing bool
	// Unread is why whoever asks may not read the ConfigMap, "" if they may.
	Unread string
	// Invalid are keys that are no dates.
	Invalid []string
}

// Explain says why the schedule of a TimeWindowScaler asks for what it asks for at an instant. state is what is known of a cluster at
// that instant, nil if nothing is.
func Explain(tws *v1beta1.TimeWindowScaler, holidays Holidays, state *State, at time.Time) *Explanation {
	reading := schedule.FromSpec(&tws.Spec, field.NewPath("spec"))
	e := &Explanation{Scaler: &timeline.Scaler{
		Namespace: tws.Namespace, Name: tws.Name, Spec: &tws.Spec, Calendar: reading.Calendar,
		HolidaysMissing: holidays.Missing, HolidaysUnread: holidays.Unread,
	}}
	if state != nil {
		e.Scaler.State = &state.Status
	}
	calendar := &e.Scaler.Calendar
	calendar.Holidays = holidays.Dates
	// All that makes the controller leave the target alone (B5). A zone that is not known does not: then the default holds.
	invalid := reading.Invalid()
	if err := schedule.NamespaceError(tws, field.NewPath("spec", "targetRef")); err != nil {
		invalid = append(invalid, err)
	}
	if reading.ZoneError != nil {
		calendar.Zone, calendar.Windows = time.UTC, nil
	}
	// Schedules know no parts of seconds, and nobody wants to read them.
	e.At = at.Truncate(time.Second).In(calendar.Zone)
	if len(invalid) > 0 {
		e.Decider = ByNothing
		e.Answer = e.sentence("asks for nothing: its spec cannot be followed, and the target is left alone: " + invalid.ToAggregate().Error())
		e.conditions(state)
		return e
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

// decide fills in what gives the number.
func (e *Explanation) decide(zoneUnknown bool) {
	calendar := &e.Scaler.Calendar
	e.verdict = calendar.At(e.At)
	if e.Scaler.IsWorkspace() {
		e.verdict.Replicas = min(e.verdict.Replicas, 1) // it runs or is stopped
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

// lookAhead finds the next transitions, in ever longer stretches: most schedules show three within a week, and a year of one that
// changes every few minutes takes long to compute.
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
