package target

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1beta1"
)

// With driftPolicy UntilBoundary a target is asked once at each edge of the schedule, and what others change after that stays
// until the next one (B3). status.applied remembers what was asked, and at which edge.

// lastAsked is status.applied, nil if it is about another target.
func lastAsked(in Input) *v1beta1.Applied {
	stored := in.Scaler.Status.Applied
	if stored == nil || stored.TargetUID != string(in.Target.Base().UID) {
		return nil
	}
	return stored
}

// edgeOf names the edge at which something was asked, "" if that is not known.
func edgeOf(last *v1beta1.Applied) string {
	if last == nil || last.Edge == nil {
		return ""
	}
	return edgeName(last.Edge.Time)
}

// currentEdge names the window occurrence, or the time between windows, that counts now: during a grace
// period the one before. Where nothing began for a month, it is still the last one, unless something else was asked then.
func currentEdge(in Input, last string, sameAsked bool) string {
	if in.InGrace {
		return last
	}
	if since := in.Since(); !since.IsZero() {
		return edgeName(since)
	}
	if sameAsked {
		return last
	}
	return ""
}

func edgeName(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func wholeSeconds(t time.Time) metav1.Time { return metav1.NewTime(t.UTC().Truncate(time.Second)) }

// askedNow is the next status.applied, without what is asked.
func askedNow(in Input, edge string) *v1beta1.Applied {
	next := &v1beta1.Applied{At: wholeSeconds(in.Now), TargetUID: string(in.Target.Base().UID)}
	if since, err := time.Parse(time.RFC3339, edge); err == nil {
		at := wholeSeconds(since)
		next.Edge = &at
	}
	return next
}

// decideOnce asks for a count once at each edge, and again if something else is to be asked within the same window.
func decideOnce(in Input) Decision {
	d := Decision{Applied: in.Scaler.Status.Applied.DeepCopy()}
	if in.Target == nil {
		return d
	}
	last, wanted := lastAsked(in), in.Desired.Replicas
	sameAsked := last != nil && last.Replicas != nil && *last.Replicas == wanted
	d.Edge = currentEdge(in, edgeOf(last), sameAsked)
	differs := !in.Target.AsksFor(in.Desired)
	switch {
	case sameAsked && d.Edge == edgeOf(last):
		d.Left = differs
	case in.Scaler.Spec.Pause:
		d.Skipped = differs
	default:
		d.Write = differs
		d.Applied = askedNow(in, d.Edge)
		d.Applied.Replicas = &wanted
	}
	return d
}
