package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetindex"
)

// +kubebuilder:rbac:groups=kyklos.io,resources=timewindowscalers,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list;watch
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=list;watch

// gatherTimeout bounds all reads for one object. It leaves most of the 5 s that the API server waits
// (A5); a cache that cannot fill, for want of a permission, would otherwise use them up.
const gatherTimeout = 2 * time.Second

// factReader reads what other objects say.
type factReader struct {
	cached client.Reader // the controller watches all that is asked for, so no check costs a request
}

// gather returns the facts about obj. A fact that cannot be read is left out and logged: it must
// never refuse an object.
func (r factReader) gather(ctx context.Context, obj *v1beta1.TimeWindowScaler) Facts {
	readCtx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	var facts Facts
	var reads sync.WaitGroup
	read := func(what string, fact func(context.Context, *v1beta1.TimeWindowScaler, *Facts) error) {
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
func (r factReader) readRivals(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	var list v1beta1.TimeWindowScalerList
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

// readTarget sets facts.TargetMissing. CEL lets no other kind than Deployment pass.
func (r factReader) readTarget(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	err := r.cached.Get(ctx, client.ObjectKey{Namespace: obj.Namespace, Name: obj.Spec.TargetRef.Name}, &appsv1.Deployment{})
	facts.TargetMissing = apierrors.IsNotFound(err)
	return client.IgnoreNotFound(err)
}

// readAutoscalers sets facts.Autoscalers.
func (r factReader) readAutoscalers(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	var list autoscalingv2.HorizontalPodAutoscalerList
	if err := r.cached.List(ctx, &list, client.InNamespace(obj.Namespace)); err != nil {
		return fmt.Errorf("list HorizontalPodAutoscalers: %w", err)
	}
	for i := range list.Items {
		if targetindex.ScaledBy(&list.Items[i], obj.Spec.TargetRef) {
			facts.Autoscalers = append(facts.Autoscalers, list.Items[i].Name)
		}
	}
	return nil
}

// readHolidays sets facts.Holidays. Values may be missing from the cache; only keys count (seed 002,
// ConfigMap Format).
func (r factReader) readHolidays(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	name := schedule.HolidaySource(&obj.Spec)
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
