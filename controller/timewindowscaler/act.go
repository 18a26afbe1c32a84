package timewindowscaler

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// act writes what the plan asks for: the scale subresource by one PATCH with the resourceVersion
// that the plan saw, never the whole object (B9). It returns the error of a write that is worth
// repeating as it is.
func (r *Reconciler) act(ctx context.Context, tws *v1beta1.TimeWindowScaler, obs observation, p plan, mem *recollection) (outcome, error) {
	done := outcome{target: obs.target}
	if !p.write {
		return done, nil
	}
	scale, err := r.scale(ctx, tws, obs.target.resourceVersion, p.effective)
	if isRefusal(err) {
		done.refused = err
		return done, nil
	}
	if err != nil {
		return done, err
	}
	done.scaled, done.from = true, obs.target.specReplicas
	done.target = &target{
		uid:              obs.target.uid,
		resourceVersion:  scale.ResourceVersion,
		specReplicas:     scale.Spec.Replicas,
		observedReplicas: scale.Status.Replicas,
	}
	mem.scaled = done.target
	return done, nil
}

func (r *Reconciler) scale(ctx context.Context, tws *v1beta1.TimeWindowScaler, resourceVersion string, replicas int32) (*autoscalingv1.Scale, error) {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": resourceVersion},
		"spec":     map[string]any{"replicas": replicas},
	})
	if err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: tws.Namespace, Name: tws.Spec.TargetRef.Name}}
	scale := &autoscalingv1.Scale{}
	err = r.Client.SubResource("scale").Patch(ctx, deployment, client.RawPatch(types.MergePatchType, patch),
		client.WithSubResourceBody(scale), client.FieldOwner(FieldManager))
	return scale, err
}
