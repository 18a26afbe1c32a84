// Package activity is how Kyklos hears that somebody uses a Workspace: whoever knows it, an IDE's proxy
// or the IDE itself, renews a Lease. A Lease, because it is made for that: a heartbeat neither
// changes the Workspace, whose writers would then run into each other, nor gives a right to change
// what is desired (D15).
package activity

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycoordinationv1 "k8s.io/client-go/applyconfigurations/coordination/v1"
)

// LeaseName is the name of a Workspace's Lease, in the Workspace's namespace.
func LeaseName(workspace string) string { return "ws-" + workspace + "-activity" }

// Beat is what is applied to say that a Workspace was used at a time; holder is who says it. The Lease
// is made if it is not there.
func Beat(namespace, workspace, holder string, at time.Time) *applycoordinationv1.LeaseApplyConfiguration {
	return applycoordinationv1.Lease(LeaseName(workspace), namespace).WithSpec(
		applycoordinationv1.LeaseSpec().WithHolderIdentity(holder).WithRenewTime(metav1.NewMicroTime(at)))
}

// Workspace is what a Lease has to fit to.
type Workspace struct {
	UID     types.UID
	Created time.Time
}

// Seen is what was last read of a Lease. The zero value is nothing.
type Seen struct {
	// Renewed is the Lease's renewTime as it stands there.
	Renewed time.Time
	// Activity is the time that it is taken for; zero if it says nothing.
	Activity time.Time
}

// Read says what lease, nil if there is none, tells at now, after what was seen of it before. A time
// that is yet to come is one of a clock that is wrong: it counts as now, once, and not again for as long as it
// stays the same, or nobody's heartbeat could keep a Workspace running. A Lease of an earlier
// Workspace of the same name says nothing. One that was made in the future was made by a clock that was ahead, and
// that says nothing about what came before it.
func (s Seen) Read(lease *coordinationv1.Lease, of Workspace, now time.Time) Seen {
	if lease == nil || lease.Spec.RenewTime == nil || !of.owns(lease) {
		return Seen{}
	}
	renewed := lease.Spec.RenewTime.Time
	switch {
	case renewed.Before(of.Created) && !of.Created.After(now):
		return Seen{Renewed: renewed}
	case renewed.Equal(s.Renewed):
		return s
	case renewed.After(now):
		return Seen{Renewed: renewed, Activity: now}
	}
	return Seen{Renewed: renewed, Activity: renewed}
}

// owns is false for a Lease that belongs to another Workspace.
func (w Workspace) owns(lease *coordinationv1.Lease) bool {
	for _, owner := range lease.OwnerReferences {
		if owner.Kind == "Workspace" && owner.UID != w.UID {
			return false
		}
	}
	return true
}
