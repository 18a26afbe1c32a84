package schedule

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1beta1"
)

// OfTarget reports whether the counts in a status are about the target with this UID. Each target has a first decision
// (B15).
func OfTarget(status *v1beta1.TimeWindowScalerStatus, uid types.UID) bool {
	olderStatus := status.TargetUID == "" && status.TargetObservedReplicas != nil // there was no targetUID yet
	return olderStatus || status.TargetUID == string(uid)
}

// Kept returns the count that a grace period keeps: the one in force, but no more than the target asks for itself, because
// a grace period never scales up (B15). asked is the target's own count; inSync reports that it asks for the one in force,
// which for some kinds is not a number.
func Kept(inForce, asked int32, inSync bool) int32 {
	if inSync {
		return inForce
	}
	return min(inForce, asked)
}

// GraceEnd returns when the grace period of a decrease ends that is due at now, kept being the count in force.
//
// One that runs ends as it is stored, and at the latest its own length from now: more is left if the clock was set back or
// the spec was changed. Another one ends its own length after the edge that made the decrease due, so that an outage does
// not start it anew. What made it due is not an edge but an edit, a holiday or a metric, if the last pass foresaw no
// boundary by now (status.nextBoundary); then it is due since now, and foreseen is false: nobody could tell later when that was.
func (r *Reading) GraceEnd(tws *v1beta1.TimeWindowScaler, kept int32, now time.Time) (end time.Time, foreseen bool) {
	length := time.Duration(tws.Spec.GracePeriodSeconds) * time.Second
	if running := tws.Status.GracePeriodExpiry; running != nil {
		if latest := WholeSecond(now.Add(length)); latest.Before(running.Time) {
			return latest, true
		}
		return running.Time, true
	}
	since, boundary := now, tws.Status.NextBoundary
	if tws.Status.ObservedGeneration == tws.Generation && boundary != nil && !boundary.After(now) && r.ZoneError == nil {
		if edge := r.lowerSince(kept, now, now.Add(-length)); !edge.Before(boundary.Time) {
			since, foreseen = edge, true
		}
	}
	return WholeSecond(since.Add(length)), foreseen
}

// lowerSince returns the edge since which the windows ask for fewer than count without interruption, or an
// earlier time than from. Before a window with a metric, or in it, they may have asked for anything.
func (r *Reading) lowerSince(count int32, now, from time.Time) time.Time {
	at, edge := now, now
	for !edge.Before(from) {
		verdict := r.Calendar.At(at)
		if verdict.Replicas >= count || verdict.Window >= 0 && r.Metrics[verdict.Window] != nil {
			return edge
		}
		edge = r.Calendar.Since(at)
		at = edge.Add(-time.Nanosecond)
	}
	return edge
}

// WholeSecond rounds up: the API stores whole seconds, and a grace period must not end early.
func WholeSecond(t time.Time) time.Time {
	if whole := t.Truncate(time.Second); whole.Before(t) {
		return whole.Add(time.Second)
	}
	return t
}
