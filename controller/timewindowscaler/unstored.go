package timewindowscaler

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1beta1"
)

// unstoredStatus is a status that a pass decided and that is not stored, because writing it failed or had to wait. Grace and
// drift depend on what was decided, so later passes continue from it. It is void once another status than the
// one it was to replace is stored: then it was stored after all, or another manager has decided since.
type unstoredStatus struct {
	*decidedStatus // nil if there is none
}

// decidedStatus is a status that was decided for a scaler, to replace another one.
type decidedStatus struct {
	scaler       types.UID
	over, status v1beta1.TimeWindowScalerStatus
}

// keep remembers that status is decided, to replace that of stored.
func (u *unstoredStatus) keep(stored *v1beta1.TimeWindowScaler, status *v1beta1.TimeWindowScalerStatus) {
	u.decidedStatus = &decidedStatus{stored.UID, *stored.Status.DeepCopy(), *status.DeepCopy()}
}

// inForce returns the scaler with the status that was decided last: the unstored one if it still counts.
func (u *unstoredStatus) inForce(stored *v1beta1.TimeWindowScaler) *v1beta1.TimeWindowScaler {
	if u.decidedStatus == nil {
		return stored
	}
	older := stored.Generation < u.status.ObservedGeneration // decided for a spec that was lost, as in a restore
	if stored.UID != u.scaler || older || !equality.Semantic.DeepEqual(stored.Status, u.over) {
		*u = unstoredStatus{}
		return stored
	}
	tws := stored.DeepCopy()
	u.status.DeepCopyInto(&tws.Status)
	return tws
}
