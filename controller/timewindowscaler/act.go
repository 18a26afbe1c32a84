package timewindowscaler

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/failure"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// outcome is what act did.
type outcome struct {
	scaled bool
	from   int32
	// target is how the API server described the target after the write; without one, as observed.
	target target.Target
	// refused is why the API server does not let us scale, where retrying alone does not help.
	refused error
}

// act writes what the plan asks for, by one PATCH with the resourceVersion that the plan saw, never
// the whole object (B9). It returns the error of a write that is worth repeating as it is.
func (r *Reconciler) act(ctx context.Context, tws *v1beta1.TimeWindowScaler, obs observation, p decision, state *scalerState) (outcome, error) {
	done := outcome{target: obs.target}
	if !p.Write {
		return done, nil
	}
	key := types.NamespacedName{Namespace: tws.Namespace, Name: tws.Spec.TargetRef.Name}
	written, err := target.KindOf(tws.Spec.TargetRef).Write(ctx, &r.Clients, key, obs.target, p.desired())
	if failure.IsRefusal(err) {
		done.refused = err
		return done, nil
	}
	if err != nil {
		return done, err
	}
	done.scaled, done.from, done.target = true, obs.target.Base().Spec, written
	state.target.Wrote(written)
	return done, nil
}
