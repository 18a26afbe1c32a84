package apiserver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/warning"
)

// warnings is a recorder for the warnings of one response.
type warnings struct{ texts []string }

// AddWarning implements warning.Recorder. A response contains each text once.
func (w *warnings) AddWarning(_, text string) {
	if !slices.Contains(w.texts, text) {
		w.texts = append(w.texts, text)
	}
}

// kubernetesFinalizers need no domain.
var kubernetesFinalizers = sets.New(metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents, string(corev1.FinalizerKubernetes))

// WarningsOnCreate returns warnings about the names of finalizers.
func (s *strategy) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return s.WarningsOnUpdate(ctx, obj, &unstructured.Unstructured{Object: map[string]any{}})
}

// WarningsOnUpdate returns warnings about the names of new finalizers.
func (*strategy) WarningsOnUpdate(_ context.Context, obj, old runtime.Object) (all []string) {
	added := sets.New(obj.(*unstructured.Unstructured).GetFinalizers()...).Delete(old.(*unstructured.Unstructured).GetFinalizers()...)
	for _, name := range sets.List(added) {
		for _, fault := range validation.IsQualifiedName(name) {
			all = append(all, fmt.Sprintf("metadata.finalizers: %q: %s", name, fault))
		}
		if strings.Contains(name, "/") || kubernetesFinalizers.Has(name) {
			continue
		}
		path := ""
		if strings.Contains(name, ".") {
			path = " including a path (/)"
		}
		all = append(all, fmt.Sprintf("metadata.finalizers: %q: prefer a domain-qualified finalizer name%s to avoid accidental conflicts with other finalizer writers", name, path))
	}
	return all
}

// dropEqualOwners removes duplicate owner references with a warning.
func dropEqualOwners(ctx context.Context, object *unstructured.Unstructured) {
	var left []metav1.OwnerReference
	var dropped []string
	for _, owner := range object.GetOwnerReferences() {
		if slices.ContainsFunc(left, func(other metav1.OwnerReference) bool { return apiequality.Semantic.DeepEqual(other, owner) }) {
			dropped = append(dropped, string(owner.UID))
			continue
		}
		left = append(left, owner)
	}
	if len(dropped) == 0 {
		return
	}
	object.SetOwnerReferences(left)
	warning.AddWarning(ctx, "", fmt.Sprintf(".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, "+
		"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %v", strings.Join(dropped, ", ")))
}
