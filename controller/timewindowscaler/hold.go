package timewindowscaler

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"kyklos.io/kyklos/apis/v1beta1"
)

// statusHold is how long a status waits for the target to arrive, so that neither a flip nor a
// rollout of many pods writes it more often than it has something to say.
const statusHold = time.Second

// believed is the scaler with the status that the last pass decided on, where that is not stored yet:
// it waits, or its write met a conflict. Grace and drift go by what was decided, not by when it is
// written.
func (m *recollection) believed(stored *v1beta1.TimeWindowScaler) *v1beta1.TimeWindowScaler {
	if m.held == nil || m.held.UID != stored.UID {
		return stored
	}
	tws := stored.DeepCopy()
	m.held.Status.DeepCopyInto(&tws.Status)
	return tws
}

// keep remembers a status that is not stored.
func (m *recollection) keep(stored *v1beta1.TimeWindowScaler, status *v1beta1.TimeWindowScalerStatus) {
	m.held = &v1beta1.TimeWindowScaler{}
	m.held.UID = stored.UID
	status.DeepCopyInto(&m.held.Status)
}

// holdsBack reports whether writing next over stored can wait, and remembers since when it waits:
// while the target is on its way after our write, and while nothing but its count changes. After a
// refusal nothing waits: the pass that would write it comes with the back-off only.
func (m *recollection) holdsBack(pass *situation, stored, next *v1beta1.TimeWindowScalerStatus) bool {
	untold := !next.LastScaleTime.Equal(stored.LastScaleTime) // our write to the target
	underWay := untold && !pass.aligned() && pass.outcome.target != nil
	asked := !sameApplied(next.Applied, stored.Applied) // lost with us, it would be asked for once more
	if pass.outcome.refused != nil || asked || !underWay && !onlyCountDiffers(stored, next) {
		m.heldSince = time.Time{}
		return false
	}
	if m.heldSince.IsZero() || m.heldSince.After(pass.now) {
		m.heldSince = pass.now
	}
	if pass.now.Sub(m.heldSince) < statusHold {
		return true
	}
	m.heldSince = time.Time{}
	return false
}

func onlyCountDiffers(last, next *v1beta1.TimeWindowScalerStatus) bool {
	if last.TargetObservedReplicas == nil || next.TargetObservedReplicas == nil ||
		*last.TargetObservedReplicas == *next.TargetObservedReplicas {
		return false
	}
	counted := next.DeepCopy()
	counted.TargetObservedReplicas = last.TargetObservedReplicas
	return equality.Semantic.DeepEqual(last, counted)
}
