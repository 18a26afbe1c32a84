package ruleset

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/internal/targetkind"
)

// together says what an object and others do to each other that no webhook sees.
func (r *run) together(ctx context.Context, m *member) {
	if m.scaler != nil {
		r.scaledByOthers(ctx, m)
	}
	r.setsReplicas(ctx, m)
	r.ignoresReplicas(m)
	r.twice(m)
}

// scaledByOthers warns of ScaledObjects of KEDA. The HorizontalPodAutoscaler that KEDA makes of one has
// been warned of where it is known.
func (r *run) scaledByOthers(ctx context.Context, m *member) {
	ref := m.scaler.Spec.TargetRef
	for _, other := range r.inventory.scaledObjectsIn(ctx, m.at.Namespace) {
		if other.target != targetkind.Of(ref).GroupKind() || other.of != ref.Name {
			continue
		}
		place := ""
		if other.member != nil {
			place = " (" + other.member.object.Place() + ")"
		}
		m.add(lint.Warning, lint.TargetAutoscaled, "spec.targetRef.name", fmt.Sprintf(
			"ScaledObject %q scales %s %q too: KEDA and Kyklos will undo what the other does, so keep only one of them%s",
			other.name, ref.Kind, ref.Name, place))
	}
}

// scaledObjectsIn are those of the set, and those of the cluster that the set does not replace.
func (inv *inventory) scaledObjectsIn(ctx context.Context, namespace string) []*scaled {
	all := inv.scaledObjects[namespace]
	if inv.cluster == nil {
		return all
	}
	stored, err := inv.cluster.scaledObject.in(ctx, inv.cluster.Reader, namespace)
	if err != nil {
		inv.fail(plural(scaledObject.Kind), err)
	}
	for _, other := range stored {
		at := identity{GroupKind: scaledObject}
		at.Namespace, at.Name = namespace, other.name
		if inv.set[at] == nil {
			all = append(all, other)
		}
	}
	return all
}

// setsReplicas warns of a target whose manifest has the field that Kyklos writes.
func (r *run) setsReplicas(ctx context.Context, m *member) {
	if m.at.Name == "" {
		return
	}
	scaler := r.inventory.scalerOf(ctx, m)
	if scaler == nil {
		return
	}
	path := r.inventory.countPath(m)
	if path == "" {
		return
	}
	value, found, _ := unstructured.NestedFieldNoCopy(m.object.Object, strings.Split(path, ".")...)
	if !found || value == nil {
		return
	}
	place := ""
	if there := r.inventory.set[identity{v1beta1.GroupKind, client.ObjectKeyFromObject(scaler)}]; there != nil {
		place = " (" + there.object.Place() + ")"
	}
	m.add(lint.Warning, lint.TargetSetsReplicas, path, fmt.Sprintf(
		"TimeWindowScaler %q%s scales this %s: whoever applies this manifest, such as kubectl or Argo CD, sets %v again; leave it out, as docs/gitops.md shows",
		scaler.Name, place, m.at.Kind, value))
}

// scalerOf is a scaler that has the object for its target, of the set or else of the cluster; nil without one.
func (inv *inventory) scalerOf(ctx context.Context, m *member) *v1beta1.TimeWindowScaler {
	targets := func(scaler *v1beta1.TimeWindowScaler) bool {
		ref := scaler.Spec.TargetRef
		return ref.Name == m.at.Name && targetkind.Of(ref).GroupKind() == m.at.GroupKind
	}
	for _, other := range inv.scalers[m.at.NamespacedName] {
		if targets(other.scaler) {
			return other.scaler
		}
	}
	if inv.cluster == nil {
		return nil
	}
	stored, err := inv.cluster.scalers.in(ctx, inv.cluster.Reader, m.at.Namespace)
	if err != nil {
		inv.fail(plural(v1beta1.Kind), err)
	}
	for _, scaler := range stored {
		if targets(scaler) && inv.set[identity{v1beta1.GroupKind, client.ObjectKeyFromObject(scaler)}] == nil {
			return scaler
		}
	}
	return nil
}

// countPath is the field that Kyklos writes in a target: spec.replicas, unless the kind's definition, if it is
// in the set, has another path for its scale subresource.
func (inv *inventory) countPath(m *member) string {
	switch m.at.GroupKind {
	case targetkind.Workspace.GroupKind():
		return "spec.desiredState"
	case targetkind.DaemonSet.GroupKind():
		return "" // a key of its node selector, which no manifest has
	}
	if definition := inv.kinds.definitions[m.at.GroupKind]; definition != nil {
		for i := range definition.Spec.Versions {
			v := &definition.Spec.Versions[i]
			if v.Name == m.object.GroupVersionKind().Version && v.Subresources != nil && v.Subresources.Scale != nil {
				return strings.TrimPrefix(v.Subresources.Scale.SpecReplicasPath, ".")
			}
		}
	}
	return "spec.replicas"
}

// twice warns of an object that is in the set a second time, also in another version. It goes for all kinds: targets and what else the
// rules look at stand for what is applied last too.
func (r *run) twice(m *member) {
	last := r.inventory.set[m.at]
	if last == nil || last == m {
		return
	}
	what := "the same object is there again"
	if now, then := m.object.GroupVersionKind().Version, last.object.GroupVersionKind().Version; now != then {
		what += ", as " + then + ","
	}
	m.add(lint.Warning, lint.DuplicateObject, "metadata.name", fmt.Sprintf("%s at %s: what is applied last counts", what, last.object.Place()))
}
