package workspace

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
)

// uidIndex finds the Jobs and Pods of a Workspace in the cache.
const uidIndex = "kyklos.io/workspace-uid"

// CacheOptions restricts the manager's cache to the objects of Workspaces, Pods and Jobs without their specs. Pods of others
// that use a home are read from the API server. namespaces are the only ones to read; none means those of options.
func CacheOptions(options *cache.Options, namespaces []string) {
	ours := labels.SelectorFromSet(labels.Set{objects.LabelManagedBy: objects.ManagedBy})
	if options.ByObject == nil {
		options.ByObject = map[client.Object]cache.ByObject{}
	}
	var in map[string]cache.Config
	for _, namespace := range namespaces {
		if in == nil {
			in = map[string]cache.Config{}
		}
		in[namespace] = cache.Config{}
	}
	options.ByObject[&v1alpha1.Workspace{}] = cache.ByObject{Namespaces: in}
	options.ByObject[&corev1.Pod{}] = cache.ByObject{Namespaces: in, Label: ours, Transform: stripPod}
	options.ByObject[&batchv1.Job{}] = cache.ByObject{Namespaces: in, Label: ours, Transform: stripJob}
	options.ByObject[&corev1.PersistentVolumeClaim{}] = cache.ByObject{Namespaces: in, Label: ours}
	options.ByObject[&corev1.Service{}] = cache.ByObject{Namespaces: in, Label: ours, Transform: cache.TransformStripManagedFields()}
}

func stripPod(obj any) (any, error) {
	if pod, ok := obj.(*corev1.Pod); ok {
		pod.Spec, pod.ManagedFields = corev1.PodSpec{}, nil
	}
	return obj, nil
}

func stripJob(obj any) (any, error) {
	if job, ok := obj.(*batchv1.Job); ok {
		job.Spec, job.ManagedFields = batchv1.JobSpec{}, nil
	}
	return obj, nil
}

func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, object := range []client.Object{&corev1.Pod{}, &batchv1.Job{}} {
		if err := indexer.IndexField(ctx, object, uidIndex, workspaceUID); err != nil {
			return fmt.Errorf("index %T by %s: %w", object, uidIndex, err)
		}
	}
	return nil
}

func workspaceUID(object client.Object) []string {
	return []string{object.GetLabels()[objects.LabelWorkspaceUID]}
}

// workspaceOf returns the Workspace that an object belongs to.
func workspaceOf(_ context.Context, object client.Object) []reconcile.Request {
	name := object.GetLabels()[objects.LabelWorkspace]
	if name == "" {
		return nil
	}
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: object.GetNamespace(), Name: name}}}
}
