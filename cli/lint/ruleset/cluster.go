package ruleset

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
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

	mu     sync.Mutex
	stored map[string]*stored // by namespace
}

// stored are the lists that rules read from one namespace.
type stored struct {
	scalers       v1beta1.TimeWindowScalerList
	autoscalers   autoscalingv2.HorizontalPodAutoscalerList
	scaledObjects []*scaled
	failed        map[string]error // by kind
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
	return &Cluster{Reader: reader, kinds: targetkind.NewResolver(apis, clock), apis: apis}, nil
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

// in returns the lists of a namespace. A list is empty if the cluster does not have the kind.
func (c *Cluster) in(ctx context.Context, namespace string) *stored {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found := c.stored[namespace]; found != nil {
		return found
	}
	s := &stored{failed: make(map[string]error)}
	list := func(kind string, into client.ObjectList) {
		err := c.Reader.List(ctx, into, client.InNamespace(namespace))
		if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			s.failed[kind] = err
		}
	}
	list(v1beta1.Kind, &s.scalers)
	s.scalers.Items = slices.DeleteFunc(s.scalers.Items, func(scaler v1beta1.TimeWindowScaler) bool {
		return scaler.DeletionTimestamp != nil // no longer owns its target (B8)
	})
	list(autoscaler.Kind, &s.autoscalers)
	var objects unstructured.UnstructuredList // without KEDA's types
	objects.SetGroupVersionKind(scaledObject.WithVersion("v1alpha1").GroupVersion().WithKind(scaledObject.Kind + "List"))
	list(scaledObject.Kind, &objects)
	for _, object := range objects.Items {
		s.scaledObjects = append(s.scaledObjects, readScaled(object.Object))
	}
	if c.stored == nil {
		c.stored = make(map[string]*stored)
	}
	c.stored[namespace] = s
	return s
}
