package admission

import (
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
	"kyklos.io/kyklos/internal/timecalc"
)

const day = 24 * time.Hour

// checkArchivedDays warns about a limit that takes the time between two windows, such as a weekend, for a leave (W95).
func (all *Findings) checkArchivedDays(spec *v1beta1.TimeWindowScalerSpec, calendar *timecalc.Calendar, now time.Time, path *field.Path) {
	days := schedule.ArchivedDays(spec.Workspace)
	if spec.Workspace == nil || spec.Workspace.KeepArchived || days == 0 || targetkind.Of(spec.TargetRef) != targetkind.Workspace.GroupVersionKind {
		return
	}
	if stop := longestStop(calendar, now); stop > time.Duration(days)*day {
		all.warn(ArchivedDays, path.Child("workspace", "keepArchivedAfterDays"),
			"%d days are less than the %d hours between two windows: a Workspace that is archived then stays so, although it was used to the end of a window",
			days, stop/time.Hour)
	}
}

// longestStop is the longest time between two windows of the next two weeks in which no window asks the target to run.
func longestStop(calendar *timecalc.Calendar, now time.Time) (longest time.Duration) {
	var stopped time.Time
	ran := calendar.At(now).Replicas > 0
	for at := calendar.NextEdge(now); !at.IsZero() && at.Sub(now) <= 15*day; at = calendar.NextEdge(at) {
		runs := calendar.At(at).Replicas > 0
		switch {
		case ran && !runs:
			stopped = at
		case !ran && runs && !stopped.IsZero():
			longest = max(longest, at.Sub(stopped))
		}
		ran = runs
	}
	return longest
}
