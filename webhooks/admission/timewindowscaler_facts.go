package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/targetindex"
)

// +kubebuilder:rbac:groups=kyklos.io,resources=timewindowscalers,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=list

// gatherTimeout bounds all reads for one object. It leaves most of the 5 s that the API server waits
// (A5); a cache that cannot fill, for want of a permission, would otherwise use them up.
const gatherTimeout = 2 * time.Second

// factReader reads what other objects say.
type factReader struct {
	cached client.Reader // TimeWindowScalers, target metadata, ConfigMaps: the controller watches them
	direct client.Reader // HorizontalPodAutoscalers: nobody else needs them, so they are not cached
}

// gather returns the facts about obj. A fact that cannot be read is left out and logged: it must
// never refuse an object.
func (r factReader) gather(ctx context.Context, obj *v1alpha1.TimeWindowScaler) Facts {
	readCtx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	var facts Facts
	var reads sync.WaitGroup
	read := func(what string, fact func(context.Context, *v1alpha1.TimeWindowScaler, *Facts) error) {
		reads.Go(func() { // side by side, so that one slow read does not cost the others their time
			if err := fact(readCtx, obj, &facts); err != nil {
				log.FromContext(ctx).V(1).Info("Skipped an admission check", "check", what, "reason", err.Error())
			}
		})
	}
	// Each writes a field of its own.
	read("owner of the target", r.readRivals)
	read("target", r.readTarget)
	read("autoscalers", r.readAutoscalers)
	read("holidays", r.readHolidays)
	reads.Wait()
	return facts
}

// readRivals sets facts.Rivals. The cache may lag behind by some milliseconds; the reconciler decides
// as well (B8).
func (r factReader) readRivals(ctx context.Context, obj *v1alpha1.TimeWindowScaler, facts *Facts) error {
	var list v1alpha1.TimeWindowScalerList
	err := r.cached.List(ctx, &list, client.InNamespace(obj.Namespace),
		client.MatchingFields{targetindex.Field: obj.Spec.TargetRef.Name})
	if err != nil {
		return fmt.Errorf("list TimeWindowScalers: %w", err)
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.Name != obj.Name && other.DeletionTimestamp == nil &&
			targetindex.SameTarget(other.Spec.TargetRef, obj.Spec.TargetRef) {
			facts.Rivals = append(facts.Rivals, other)
		}
	}
	return nil
}

// readTarget sets facts.TargetMissing. It reads metadata only: the cache holds no pod templates.
func (r factReader) readTarget(ctx context.Context, obj *v1alpha1.TimeWindowScaler, facts *Facts) error {
	ref := obj.Spec.TargetRef
	target := &metav1.PartialObjectMetadata{}
	target.SetGroupVersionKind(schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind))
	err := r.cached.Get(ctx, client.ObjectKey{Namespace: obj.Namespace, Name: ref.Name}, target)
	facts.TargetMissing = apierrors.IsNotFound(err)
	return client.IgnoreNotFound(err)
}

// readAutoscalers sets facts.Autoscalers.
func (r factReader) readAutoscalers(ctx context.Context, obj *v1alpha1.TimeWindowScaler, facts *Facts) error {
	var list autoscalingv2.HorizontalPodAutoscalerList
	if err := r.direct.List(ctx, &list, client.InNamespace(obj.Namespace)); err != nil {
		return fmt.Errorf("list HorizontalPodAutoscalers: %w", err)
	}
	ref := obj.Spec.TargetRef
	group := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind()
	for _, hpa := range list.Items {
		scaled := hpa.Spec.ScaleTargetRef
		if scaled.Name == ref.Name && schema.FromAPIVersionAndKind(scaled.APIVersion, scaled.Kind).GroupKind() == group {
			facts.Autoscalers = append(facts.Autoscalers, hpa.Name)
		}
	}
	return nil
}

// readHolidays sets facts.Holidays. Values may be missing from the cache; only keys count (seed 002,
// ConfigMap Format).
func (r factReader) readHolidays(ctx context.Context, obj *v1alpha1.TimeWindowScaler, facts *Facts) error {
	name := holidaySourceName(&obj.Spec)
	if name == "" {
		return nil
	}
	var source corev1.ConfigMap
	err := r.cached.Get(ctx, client.ObjectKey{Namespace: obj.Namespace, Name: name}, &source)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get ConfigMap %s: %w", name, err)
	}
	facts.Holidays = &HolidaySource{Exists: err == nil, Keys: slices.Collect(maps.Keys(source.Data))}
	return nil
}
