package admission

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
)

// +kubebuilder:rbac:groups=kyklos.io,resources=timewindowscalers,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets;daemonsets,verbs=list;watch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list;watch
// +kubebuilder:rbac:groups=autoscaling,resources=horizontalpodautoscalers,verbs=list;watch

// gatherTimeout bounds all reads for one object. It leaves most of the 5 s that the API server waits (A5): a
// cache that cannot sync for lack of a permission would otherwise use them up.
const gatherTimeout = 2 * time.Second

var (
	autoscaler = autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler").GroupKind()
	configMap  = corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind()

	scalers     = v1beta1.GroupVersion.WithResource("timewindowscalers")
	autoscalers = autoscalingv2.SchemeGroupVersion.WithResource("horizontalpodautoscalers")
	configMaps  = corev1.SchemeGroupVersion.WithResource("configmaps")
)

// factReader reads other objects. What the controller watches on every replica comes from its cache; only
// custom target kinds and external metrics cost requests.
type factReader struct {
	cached, live client.Reader
	reviews      client.Writer // nil: permissions are not checked
	kinds        kinds
	apis         apis
	namespaces   []string // what cached contains and live may read; none means all
	workspaces   targetkind.Scope
	// checkRequester: a schedule needs an author who may scale the target.
	checkRequester bool
}

// kinds is a targetkind.Resolver.
type kinds interface {
	Resolve(ctx context.Context, ref v1beta1.TargetRef) (targetkind.Kind, error)
}

// apis is the part of a discovery client that is needed.
type apis interface {
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// Sources let a program other than the manager gather facts. A source that returns an error leaves out the
// fact.
type Sources struct {
	// Objects must support the index targetkind.NameField.
	Objects client.Reader
	Kinds   kinds
	APIs    apis
}

// Facts about obj. The permissions of Kyklos are left out, as the caller is not the manager.
func (s Sources) Facts(ctx context.Context, obj *v1beta1.TimeWindowScaler) Facts {
	return factReader{cached: s.Objects, live: s.Objects, kinds: s.Kinds, apis: s.APIs}.gather(ctx, obj)
}

// WorkspaceFacts about obj; old is what it replaces, nil if nothing.
func (s Sources) WorkspaceFacts(ctx context.Context, obj, old *v1alpha1.Workspace) WorkspaceFacts {
	return workspaceReader{live: s.Objects}.gather(ctx, obj, old)
}

// gather returns the facts about obj. A fact that cannot be read is left out and logged: it must never refuse
// an object.
func (r factReader) gather(ctx context.Context, obj *v1beta1.TimeWindowScaler) Facts {
	readCtx, cancel := context.WithTimeout(ctx, gatherTimeout)
	defer cancel()
	facts := Facts{Unserved: len(r.namespaces) > 0 && !slices.Contains(r.namespaces, obj.Namespace)}
	var reads sync.WaitGroup
	read := func(what string, fact func(context.Context, *v1beta1.TimeWindowScaler, *Facts) error) {
		reads.Go(func() { // in parallel, so that one slow read does not delay the others
			if err := fact(readCtx, obj, &facts); err != nil {
				log.FromContext(ctx).V(1).Info("Skipped an admission check", "check", what, "reason", err.Error())
			}
		})
	}
	// Each writes its own fields. Kinds and APIs are the same in all namespaces.
	read("target", r.readTarget)
	read("metrics", r.readMetrics)
	if !facts.Unserved {
		read("owner of the target", r.readOwner)
		read("autoscalers", r.readAutoscalers)
		read("holidays", r.readHolidays)
	}
	reads.Wait()
	return facts
}

// readTarget sets facts.Unscalable, facts.Requester, facts.Forbidden, facts.TargetMissing or facts.Controller.
func (r factReader) readTarget(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	kind, err := r.kinds.Resolve(ctx, obj.Spec.TargetRef)
	if isUnscalable(err) {
		facts.Unscalable = err
		return nil
	}
	if !facts.Unserved {
		facts.Requester = r.readRequester(ctx, kind, err, obj.Spec.TargetRef.Name)
	}
	if err != nil {
		return fmt.Errorf("resolve the target's kind: %w", err)
	}
	if facts.Unserved {
		return nil
	}
	if r.reviews != nil {
		err = r.workspaces.Check(kind, obj.Namespace)
		if err == nil {
			err = targetkind.Permitted(ctx, r.reviews, kind, obj.Namespace)
		}
		if errors.As(err, &facts.Forbidden) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("check permissions: %w", err)
		}
	}
	target, reader := r.object(kind)
	err = reader.Get(ctx, client.ObjectKey{Namespace: obj.Namespace, Name: obj.Spec.TargetRef.Name}, target)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get the target: %w", err)
	}
	controller := metav1.GetControllerOf(target)
	if err == nil && controller == nil || !mayKnow(ctx, r.reviews, kind.GroupVersionResource(), obj.Spec.TargetRef.Name) {
		return nil
	}
	facts.TargetMissing, facts.Controller = err != nil, controller
	return nil
}

func isUnscalable(err error) bool {
	var unknown *targetkind.UnknownError
	var unscalable *targetkind.NotScalableError
	return errors.As(err, &unknown) || errors.As(err, &unscalable)
}

// object returns an empty object of the kind and its reader: the caches of all replicas contain the built-in
// kinds, and only the metadata of any other is read, from the API server.
func (r factReader) object(kind targetkind.Kind) (client.Object, client.Reader) {
	switch kind {
	case targetkind.Deployment:
		return &appsv1.Deployment{}, r.cached
	case targetkind.StatefulSet:
		return &appsv1.StatefulSet{}, r.cached
	case targetkind.DaemonSet:
		return &appsv1.DaemonSet{}, r.cached
	default:
		object := &metav1.PartialObjectMetadata{}
		object.SetGroupVersionKind(kind.GroupVersionKind)
		return object, r.live
	}
}

// readOwner sets facts.Owner. The cache may be some milliseconds stale; the reconciler checks as well (B8).
func (r factReader) readOwner(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	var list v1beta1.TimeWindowScalerList
	err := r.cached.List(ctx, &list, client.InNamespace(obj.Namespace),
		client.MatchingFields{targetkind.NameField: obj.Spec.TargetRef.Name})
	if err != nil {
		return fmt.Errorf("list TimeWindowScalers: %w", err)
	}
	others := slices.DeleteFunc(list.Items, func(s v1beta1.TimeWindowScaler) bool { return s.Name == obj.Name })
	facts.Owner = targetkind.Owner(others, obj.Spec.TargetRef)
	facts.OwnerHidden = facts.Owner != nil && !mayKnow(ctx, r.reviews, scalers, "")
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
	if len(facts.Autoscalers) > 0 && !mayKnow(ctx, r.reviews, autoscalers, "") {
		facts.Autoscalers = nil
	}
	return nil
}

// readHolidays sets facts.Holidays. Only keys matter (R4). The manager's client does not cache ConfigMaps.
func (r factReader) readHolidays(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	name := schedule.HolidaySource(&obj.Spec)
	if name == "" || !mayKnow(ctx, r.reviews, configMaps, name) {
		return nil
	}
	var source corev1.ConfigMap
	err := r.cached.Get(ctx, client.ObjectKey{Namespace: obj.Namespace, Name: name}, &source)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("get ConfigMap %s: %w", name, err)
	}
	facts.Holidays = &HolidaySource{Exists: err == nil, Keys: schedule.HolidayKeys(&source)}
	return nil
}

// externalMetrics is the API that serves the metrics of windows.
const externalMetrics = "external.metrics.k8s.io/v1beta1"

// readMetrics sets facts.MetricsMissing for a schedule with a metric.
func (r factReader) readMetrics(ctx context.Context, obj *v1beta1.TimeWindowScaler, facts *Facts) error {
	if !slices.ContainsFunc(obj.Spec.Windows, func(w v1beta1.Window) bool { return w.Metric != nil }) {
		return nil
	}
	_, err := r.apis.ServerResourcesForGroupVersionWithContext(ctx, externalMetrics)
	facts.MetricsMissing = apierrors.IsNotFound(err)
	if err != nil && !facts.MetricsMissing {
		return fmt.Errorf("discover %s: %w", externalMetrics, err)
	}
	return nil
}
