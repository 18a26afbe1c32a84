package admission

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
)

// Facts are what the rules know about other objects. The zero value knows nothing, and no rule reports
// anything for lack of a fact.
type Facts struct {
	// Unserved: the manager does not serve the object's namespace, and knows nothing about objects there.
	Unserved bool
	// Unscalable is why the target's kind cannot be scaled: a *targetkind.UnknownError or a
	// *targetkind.NotScalableError; nil if it can.
	Unscalable error
	// Forbidden: Kyklos lacks a permission for the target's kind; nil if it has all.
	Forbidden *targetkind.ForbiddenError
	// TargetMissing: the target is known not to exist.
	TargetMissing bool
	// Controller is the object that the target names as its controller, such as the Deployment of a ReplicaSet; nil
	// without one.
	Controller *metav1.OwnerReference
	// Requester is what is known about the right of the user who wrote the object.
	Requester RequesterFacts
	// Autoscalers are the names of the HorizontalPodAutoscalers of the target.
	Autoscalers []string
	// Owner is the other TimeWindowScaler that scales the target, the first of several (B8); nil without any.
	Owner *v1beta1.TimeWindowScaler
	// OwnerHidden: no finding may name the Owner, because the user may not list TimeWindowScalers.
	OwnerHidden bool
	// Holidays is the ConfigMap named in spec.holidays; nil if it was not read.
	Holidays *HolidaySource
	// MetricsMissing: the cluster does not serve external metrics.
	MetricsMissing bool
}

// HolidaySource is what is known about a holiday ConfigMap.
type HolidaySource struct {
	Exists bool
	Keys   []string // in any order
}

// CheckTimeWindowScaler applies all rules to obj. old is the object that it updates, nil on create; what is
// wrong with old in the same way only warns. now decides which clock changes and holidays are upcoming.
func CheckTimeWindowScaler(obj, old *v1beta1.TimeWindowScaler, facts Facts, now time.Time) (all Findings) {
	spec, path := &obj.Spec, field.NewPath("spec")
	if facts.Unserved {
		all.warnNotServed(obj.Namespace, "--namespaces")
	}
	all.checkSchedule(obj, old, path)
	all.checkTarget(obj, old, path.Child("targetRef"), facts)
	all.checkRequester(obj, path.Child("targetRef", "name"), facts.Requester)
	// Fields that cannot be read are refused, or kept by an update and reported in the status (B5).
	reading := schedule.FromSpec(spec, path)
	all.checkTimezones(spec, &reading, path)
	windows, zone := reading.Calendar.Windows, reading.Calendar.Zone
	if len(reading.WindowErrors) == 0 {
		all.checkReplicas(spec, windows, path)
		all.checkMetrics(spec, windows, path.Child("windows"), facts)
	}
	if len(reading.WindowErrors)+len(reading.WindowZoneErrors) == 0 {
		all.checkWindows(windows, path.Child("windows"))
	}
	if len(reading.Errors()) == 0 {
		all.checkArchivedDays(spec, &reading.Calendar, now, path)
		all.checkClockChanges(windows, zone, now, path.Child("windows"))
	}
	if reading.ZoneError == nil {
		today := now.In(zone).Format(time.DateOnly)
		all.checkHolidays(obj, today, path.Child("holidays", "sourceRef", "name"), facts)
	}
	return all
}

// checkSchedule refuses what Kyklos cannot parse, unless old has such errors too. CEL refuses the same and
// more, but a request in another API version is validated by that version's rules, and may contain what only
// this one knows.
func (all *Findings) checkSchedule(obj, old *v1beta1.TimeWindowScaler, path *field.Path) {
	errs := scheduleErrors(&obj.Spec, path)
	if old == nil || len(scheduleErrors(&old.Spec, path)) == 0 {
		all.refuse(ScheduleInvalid, Other{}, errs...)
	}
}

func scheduleErrors(spec *v1beta1.TimeWindowScalerSpec, path *field.Path) field.ErrorList {
	reading := schedule.FromSpec(spec, path)
	return reading.Invalid(nil)
}
