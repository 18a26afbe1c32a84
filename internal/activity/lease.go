// Package activity defines heartbeats: while a Workspace is in use, an IDE or its proxy renews a Lease. Unlike a write to
// the Workspace, that does not conflict with other writers, and needs no permission to change the desired state (D15).
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

// Beat is a heartbeat to apply: holder reports that a Workspace was used at a time. It creates the Lease if needed.
func Beat(namespace, workspace, holder string, at time.Time) *applycoordinationv1.LeaseApplyConfiguration {
	return applycoordinationv1.Lease(LeaseName(workspace), namespace).WithSpec(
		applycoordinationv1.LeaseSpec().WithHolderIdentity(holder).WithRenewTime(metav1.NewMicroTime(at)))
}

// Workspace is the Workspace that a Lease must belong to.
type Workspace struct {
	UID     types.UID
	Created time.Time
}

// Seen is the last read state of a Lease; the zero value is none.
type Seen struct {
	// Renewed is the Lease's renewTime.
	Renewed time.Time
	// Activity is the resulting time of activity; zero for none.
	Activity time.Time
}

// Read returns the activity after reading lease, nil if there is none, at now. A renewTime in the future is from a wrong
// clock: it counts once, as now, until it changes; otherwise a single heartbeat could keep a Workspace running. Leases of
// an earlier Workspace of the same name are ignored. If the Workspace's creation time is in the future, it is not compared.
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
