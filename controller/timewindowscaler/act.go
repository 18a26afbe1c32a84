package timewindowscaler

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1beta1"
)

// FieldManager is the name under which Kyklos owns what it writes. Others configure their tools by
// it (Argo CD's managedFieldsManagers), so it never changes.
const FieldManager = "kyklos-controller"

// outcome is what act did.
type outcome struct {
	scaled bool
	from   int32
	// target is how the API server described the target after the write; without one, as observed.
	target *target
	// refused is why the API server does not let us scale, where retrying alone does not help.
	refused error
}

// act writes what the plan asks for, by one PATCH with the resourceVersion that the plan saw, never
// the whole object (B9). It returns the error of a write that is worth repeating as it is.
func act(ctx context.Context, tws *v1beta1.TimeWindowScaler, obs observation, p plan, mem *recollection) (outcome, error) {
	done := outcome{target: obs.target}
	if !p.write {
		return done, nil
	}
	key := types.NamespacedName{Namespace: tws.Namespace, Name: tws.Spec.TargetRef.Name}
	written, err := obs.workload.write(ctx, key, obs.target, p.effective)
	if isRefusal(err) {
		done.refused = err
		return done, nil
	}
	if err != nil {
		return done, err
	}
	done.scaled, done.from, done.target = true, obs.target.specReplicas, written
	mem.scaled = written
	return done, nil
}
