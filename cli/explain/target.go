package explain

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/schedule"
)

// Target is the state of a target.
type Target struct {
	UID types.UID
	// Asks is the count in its spec, Has the one in its status. Unset: its spec has no count.
	Asks, Has int32
	Unset     bool
	// Desired is the desired state of a Workspace; Suspended is for a DaemonSet.
	Desired   string
	Suspended bool
	// Used is when a Workspace was last used; zero if that is unknown.
	Used time.Time
	// Owners are the field managers that own the count. Written is when, zero if that is not recorded.
	Owners  []string
	Written time.Time
}

func (t *Target) asksFor(e *Explanation, replicas int32) bool {
	switch {
	case e.Scaler.IsWorkspace():
		return (t.Desired == "RUNNING") == (replicas > 0)
	case e.Scaler.IsDaemonSet():
		return t.Suspended == (replicas == 0)
	default:
		return !t.Unset && t.Asks == replicas
	}
}

// asks is the count in the target's spec, as the controller counts it: a DaemonSet has none, and an unset one is 1.
func (t *Target) asks(e *Explanation) int32 {
	switch {
	case e.Scaler.IsWorkspace() && t.Desired == "RUNNING", t.Unset:
		return 1
	default:
		return t.Asks
	}
}

// staysArchived is why a Workspace stays archived when a window starts, "" if it does not.
func (e *Explanation) staysArchived(target *Target) string {
	if !e.Scaler.IsWorkspace() || target.Desired != "PENDING" {
		return ""
	}
	return schedule.KeepArchived(e.Scaler.Spec.Workspace, target.Used, e.At)
}

// seen is the state of the target, and who wrote its count.
func (e *Explanation) seen(target *Target) string {
	var text string
	switch {
	case e.Scaler.IsWorkspace():
		text = "its desiredState is " + target.Desired
	case e.Scaler.IsDaemonSet() && target.Suspended:
		text = fmt.Sprintf("it is suspended, and %d of its pods are on nodes", target.Has)
	case e.Scaler.IsDaemonSet():
		text = fmt.Sprintf("it is running, and %d of its pods are on nodes", target.Has)
	case target.Unset:
		text = fmt.Sprintf("its spec has no count, and it has %d", target.Has)
	default:
		text = fmt.Sprintf("its spec asks for %d, and it has %d", target.Asks, target.Has)
	}
	if len(target.Owners) > 0 {
		text += "; written by " + strings.Join(target.Owners, " and ")
	}
	if !target.Written.IsZero() {
		text += ", " + ago(e.At.Sub(target.Written))
	}
	return text
}
