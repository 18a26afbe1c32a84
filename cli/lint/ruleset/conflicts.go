package ruleset

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
)

// checkConflicts reports conflicts between objects that no webhook sees.
func (r *run) checkConflicts(ctx context.Context, m *member) {
	if m.scaler != nil {
		r.checkScaledObjects(ctx, m)
	}
	r.checkReplicas(ctx, m)
	r.checkApplication(m)
	r.checkDuplicate(m)
}

// checkScaledObjects warns about KEDA ScaledObjects of the same target. The HorizontalPodAutoscaler that KEDA
// creates for one is reported as such where it is known.
func (r *run) checkScaledObjects(ctx context.Context, m *member) {
	if schedule.DriftPolicy(&m.scaler.Spec) != v1beta1.DriftEnforce {
		return
	}
	ref := m.scaler.Spec.TargetRef
	for _, other := range r.inventory.scaledObjectsIn(ctx, m.at.Namespace) {
		if other.target != targetkind.Of(ref).GroupKind() || other.of != ref.Name {
			continue
		}
		at := identity{scaledObject, types.NamespacedName{Namespace: m.at.Namespace, Name: other.name}}
		m.add(lint.Warning, lint.TargetAutoscaled, "spec.targetRef.name", fmt.Sprintf(
			"ScaledObject %q also scales %s %q: KEDA and Kyklos overwrite what the other sets; %s%s",
			other.name, ref.Kind, ref.Name, schedule.HowToShare(&m.scaler.Spec), r.inventory.place(m, at)))
	}
}

// scaledObjectsIn returns those of the set, and those of the cluster that the set does not replace.
func (inv *inventory) scaledObjectsIn(ctx context.Context, namespace string) []*scaled {
	all := slices.Clone(inv.scaledObjects[namespace])
	for _, other := range inv.storedIn(ctx, namespace).scaledObjects {
		if inv.set[identity{scaledObject, types.NamespacedName{Namespace: namespace, Name: other.name}}] == nil {
			all = append(all, other)
		}
	}
	return all
}

// checkReplicas warns about a target whose manifest sets the field that Kyklos writes.
func (r *run) checkReplicas(ctx context.Context, m *member) {
	if m.at.Name == "" {
		return
	}
	scaler, path := r.inventory.scalerOf(ctx, m), r.inventory.replicasPath(m)
	if scaler == nil || path == "" {
		return
	}
	value, found, _ := unstructured.NestedFieldNoCopy(m.object.Object, strings.Split(path, ".")...)
	if !found || value == nil {
		return
	}
	place := r.inventory.place(m, identity{v1beta1.GroupKind, client.ObjectKeyFromObject(scaler)})
	m.add(lint.Warning, lint.TargetSetsReplicas, path, fmt.Sprintf(
		"TimeWindowScaler %q%s scales this %s: applying this manifest with kubectl or Argo CD resets it to %v; remove the field (see docs/gitops.md)",
		scaler.Name, place, m.at.Kind, value))
}

// scalerOf returns a scaler with the object as its target, from the set or else from the cluster; nil without one.
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
	stored := inv.storedIn(ctx, m.at.Namespace).scalers.Items
	for i := range stored {
		if scaler := &stored[i]; targets(scaler) && !inv.replaces(v1beta1.GroupKind, scaler) {
			return scaler
		}
	}
	return nil
}

// replicasPath returns the field of a target that Kyklos writes: spec.replicas, unless the kind's definition, if
// it is in the set, has another path for its scale subresource.
func (inv *inventory) replicasPath(m *member) string {
	switch m.at.GroupKind {
	case targetkind.Workspace.GroupKind():
		return "spec.desiredState"
	case targetkind.DaemonSet.GroupKind():
		return "" // Kyklos writes a node selector key that is in no manifest
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

// checkDuplicate warns about an object of any kind that is in the set again, possibly in another version: the
// rules use the one that is applied last.
func (r *run) checkDuplicate(m *member) {
	last := r.inventory.set[m.at]
	if last == nil || last == m {
		return
	}
	version := ""
	if now, then := m.object.GroupVersionKind().Version, last.object.GroupVersionKind().Version; now != then {
		version = " as " + then
	}
	m.add(lint.Warning, lint.DuplicateObject, "metadata.name",
		fmt.Sprintf("the same object is also at %s%s: the one that is applied last counts", last.object.Place(), version))
}
