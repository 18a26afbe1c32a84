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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
)

// +kubebuilder:rbac:groups=kyklos.io,resources=timewindowscalers,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets;daemonsets,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list;watch
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=list;watch

// gatherTimeout bounds all reads for one object. It leaves most of the 5 s that the API server waits
// (A5); a cache that cannot fill, for want of a permission, would otherwise use them up.
const gatherTimeout = 2 * time.Second

// factReader reads what other objects say. What the controller watches on every replica comes from its
// cache; only targets of further kinds, and metrics, cost requests.
type factReader struct {
	cached, live client.Reader
	reviews      client.Writer // nil: what is permitted is not asked
	kinds        kinds
	apis         apis
	namespaces   []string // what cached holds and live may read; none means all
}

// kinds is a targetkind.Resolver.
type kinds interface {
	Resolve(ctx context.Context, ref v1beta1.TargetRef) (targetkind.Kind, error)
}

// apis is the part of a discovery client that is needed.
type apis interface {
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// gather returns the facts about obj. A fact that cannot be read is left out and logged: it must
// never refuse an object.
func (r factReader) gather(ctx context.Context, obj *v1beta1.TimeWindowScaler) Facts {
	readCtx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	facts := Facts{Unserved: len(r.namespaces) > 0 && !slices.Contains(r.namespaces, obj.Namespace)}
	var reads sync.WaitGroup
	read := func(what string, fact func(context.Context, *v1beta1.TimeWindowScaler, *Facts) error) {
		reads.Go(func() { // side by side, so that one slow read does not cost the others their time
			if err := fact(readCtx, obj, &facts); err != nil {
				log.FromContext(ctx).V(1).Info("Skipped an admission check", "check", what, "reason", err.Error())
			}
		})
	}
	// Each writes fields of its own. What kinds and APIs there are is the same in all namespaces.
	read("target", r.readTarget)
	read("metrics", r.readMetrics)
	if !facts.Unserved {
		read("owner of the target", r.readRivals)
		read("autoscalers", r.readAutoscalers)
		read("holidays", r.readHolidays)
	}
	reads.Wait()
	return facts
}

// readRivals sets facts.Rivals. The cache may lag behind by some milliseconds; the reconciler decides
// as well (B8).
func (r factReader) readRivals(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	var list v1beta1.TimeWindowScalerList
	err := r.cached.List(ctx, &list, client.InNamespace(obj.Namespace),
		client.MatchingFields{targetkind.NameField: obj.Spec.TargetRef.Name})
	if err != nil {
		return fmt.Errorf("list TimeWindowScalers: %w", err)
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.Name != obj.Name && other.DeletionTimestamp == nil &&
			targetkind.SameTarget(other.Spec.TargetRef, obj.Spec.TargetRef) {
			facts.Rivals = append(facts.Rivals, other)
		}
	}
	return nil
}

// readAutoscalers sets facts.Autoscalers.
func (r factReader) readAutoscalers(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	var list autoscalingv2.HorizontalPodAutoscalerList
	if err := r.cached.List(ctx, &list, client.InNamespace(obj.Namespace)); err != nil {
		return fmt.Errorf("list HorizontalPodAutoscalers: %w", err)
	}
	for i := range list.Items {
		if targetkind.ScaledBy(&list.Items[i], obj.Spec.TargetRef) {
			facts.Autoscalers = append(facts.Autoscalers, list.Items[i].Name)
		}
	}
	return nil
}

// readHolidays sets facts.Holidays. Values may be missing from the cache; only keys count (R4).
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

// externalMetrics is where the metrics of windows are read.
const externalMetrics = "external.metrics.k8s.io/v1beta1"

// readMetrics sets facts.MetricsMissing for a schedule with a metric.
func (r factReader) readMetrics(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	if !slices.ContainsFunc(obj.Spec.Windows, func(w v1beta1.Window) bool { return w.Metric != nil }) {
		return nil
	}
	_, err := r.apis.ServerResourcesForGroupVersionWithContext(ctx, externalMetrics)
	facts.MetricsMissing = apierrors.IsNotFound(err)
	if err != nil && !facts.MetricsMissing {
		return fmt.Errorf("look for %s: %w", externalMetrics, err)
	}
	return nil
}
