package timewindowscaler

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"

	"kyklos.io/kyklos/apis/v1beta1"
)

// statusHold is how long writing a status waits for the target to arrive, so that neither a boundary nor a
// rollout of many pods writes it more often than necessary.
const statusHold = time.Second

// withPendingStatus is the scaler with the status that the last pass decided on, if that is not stored yet:
// writing it was delayed, or met a conflict. Grace and drift depend on what was decided, not on when it is
// written.
func (s *scalerState) withPendingStatus(stored *v1beta1.TimeWindowScaler) *v1beta1.TimeWindowScaler {
	if s.pending == nil || s.pending.UID != stored.UID {
		return stored
	}
	tws := stored.DeepCopy()
	s.pending.Status.DeepCopyInto(&tws.Status)
	return tws
}

// keep remembers a status that is not stored.
func (s *scalerState) keep(stored *v1beta1.TimeWindowScaler, status *v1beta1.TimeWindowScalerStatus) {
	s.pending = &v1beta1.TimeWindowScaler{}
	s.pending.UID = stored.UID
	status.DeepCopyInto(&s.pending.Status)
}

// holdsBack reports whether writing next over stored can wait, and remembers since when it waits: while the
// target is on its way after our write, and while nothing but its count changes. After a refusal nothing
// waits: the pass that would write it comes only after the back-off.
func (s *scalerState) holdsBack(pass *passResult, stored, next *v1beta1.TimeWindowScalerStatus) bool {
	unreported := !next.LastScaleTime.Equal(stored.LastScaleTime) // our write to the target
	underWay := unreported && !pass.aligned() && pass.outcome.target != nil
	asked := !equality.Semantic.DeepEqual(next.Applied, stored.Applied) // must survive a restart, or it is asked for twice
	if pass.outcome.trouble() != nil || asked || !underWay && !onlyCountDiffers(stored, next) {
		s.heldSince = time.Time{}
		return false
	}
	if s.heldSince.IsZero() || s.heldSince.After(pass.now) {
		s.heldSince = pass.now
	}
	if pass.now.Sub(s.heldSince) < statusHold {
		return true
	}
	s.heldSince = time.Time{}
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
