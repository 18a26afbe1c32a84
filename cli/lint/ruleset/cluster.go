package ruleset

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/internal/targetkind"
)

// scheme has all built-in kinds, because a target may be of any. It is created on first use, as the manager never
// needs it.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	all := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(all))
	utilruntime.Must(v1alpha1.AddToScheme(all))
	utilruntime.Must(v1beta1.AddToScheme(all))
	return all
})

// Cluster reads objects from an API server. Lists are read once per namespace.
type Cluster struct {
	Reader client.Reader
	kinds  *targetkind.Resolver
	apis   interface {
		ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
	}

	scalers      lists[*v1beta1.TimeWindowScaler]
	autoscalers  lists[*autoscalingv2.HorizontalPodAutoscaler]
	scaledObject lists[*scaled]
}

// NewCluster returns the cluster of config. Nothing is written to it.
func NewCluster(config *rest.Config, clock clock.PassiveClock) (*Cluster, error) {
	reader, err := client.New(config, client.Options{Scheme: scheme()})
	if err != nil {
		return nil, fmt.Errorf("create a client: %w", err)
	}
	apis, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create a discovery client: %w", err)
	}
	return &Cluster{
		Reader: reader, kinds: targetkind.NewResolver(apis, clock), apis: apis,
		scalers:      lists[*v1beta1.TimeWindowScaler]{read: readScalers},
		autoscalers:  lists[*autoscalingv2.HorizontalPodAutoscaler]{read: readAutoscalers},
		scaledObject: lists[*scaled]{read: readScaledObjects},
	}, nil
}

// Reach returns an error if the cluster does not answer or the user is not authenticated: checks would silently be
// done without it. A user who is only forbidden to list APIs gets a note later.
func (c *Cluster) Reach(ctx context.Context) error {
	_, err := c.apis.ServerResourcesForGroupVersionWithContext(ctx, "v1")
	if err == nil || apierrors.IsForbidden(err) {
		return nil
	}
	return fmt.Errorf("contact the API server: %w", err)
}

// object returns the stored object that of would update, in the same version; nil without one.
func (c *Cluster) object(ctx context.Context, of *manifest.Object, namespace string) (*manifest.Object, error) {
	var stored unstructured.Unstructured
	stored.SetGroupVersionKind(of.GroupVersionKind())
	err := c.Reader.Get(ctx, of.Key(namespace), &stored)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(stored.Object)
	if err != nil {
		return nil, err
	}
	return &manifest.Object{File: &manifest.File{Name: "the cluster"}, Raw: raw, Line: 1, Object: stored.Object}, nil
}

// lists are a cluster's objects of a kind by namespace.
type lists[T any] struct {
	read func(ctx context.Context, reader client.Reader, namespace string) ([]T, error)

	mu    sync.Mutex
	known map[string]*listed[T]
}

// listed is one namespace of a kind, read on first use; concurrent callers wait.
type listed[T any] struct {
	once  sync.Once
	items []T
	err   error
}

// in returns the objects of a namespace, none if the cluster does not have the kind. Errors are kept too.
func (l *lists[T]) in(ctx context.Context, reader client.Reader, namespace string) ([]T, error) {
	l.mu.Lock()
	if l.known == nil {
		l.known = make(map[string]*listed[T])
	}
	one := l.known[namespace]
	if one == nil {
		one = &listed[T]{}
		l.known[namespace] = one
	}
	l.mu.Unlock()
	one.once.Do(func() {
		if one.items, one.err = l.read(ctx, reader, namespace); meta.IsNoMatchError(one.err) || apierrors.IsNotFound(one.err) {
			one.items, one.err = nil, nil // no such kind
		}
	})
	return one.items, one.err
}

// readScalers skips those that are being deleted: they no longer own a target (B8).
func readScalers(ctx context.Context, reader client.Reader, namespace string) (all []*v1beta1.TimeWindowScaler, err error) {
	var list v1beta1.TimeWindowScalerList
	if err := reader.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			all = append(all, &list.Items[i])
		}
	}
	return all, nil
}

// readAutoscalers reads autoscaling/v2, which includes those of v1.
func readAutoscalers(ctx context.Context, reader client.Reader, namespace string) (all []*autoscalingv2.HorizontalPodAutoscaler, err error) {
	var list autoscalingv2.HorizontalPodAutoscalerList
	if err := reader.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	for i := range list.Items {
		all = append(all, &list.Items[i])
	}
	return all, nil
}

// readScaledObjects reads KEDA's objects without its types.
func readScaledObjects(ctx context.Context, reader client.Reader, namespace string) (all []*scaled, err error) {
	var list unstructured.UnstructuredList
	list.SetGroupVersionKind(scaledObject.WithVersion("v1alpha1").GroupVersion().WithKind(scaledObject.Kind + "List"))
	if err := reader.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	for i := range list.Items {
		all = append(all, readScaled(list.Items[i].Object))
	}
	return all, nil
}
