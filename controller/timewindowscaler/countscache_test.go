package timewindowscaler

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// innerCache is filled, and refuses to read.
type innerCache struct{ cache.Cache }

var errInner = errors.New("read by the inner cache")

func (innerCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return nil, nil
}

func (innerCache) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errInner
}

// Objects come from the stores of all namespaces that are watched, each of its kind. Everything else is read as usual.
func TestCountsAreReadFromAllNamespaces(t *testing.T) {
	c := &countsCache{Cache: innerCache{}, inner: toolscache.NewSharedIndexInformer, stores: map[reflect.Type][]toolscache.Store{}}
	for _, namespace := range []string{"shop", "lab"} {
		kept := &target.Counts{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}, Desired: int32(len(namespace)), Observed: 2, Ready: 1}
		if err := c.newInformer(nil, &appsv1.Deployment{}, 0, toolscache.Indexers{}).GetStore().Add(kept); err != nil {
			t.Fatal(err)
		}
	}
	c.newInformer(nil, &corev1.Pod{}, 0, toolscache.Indexers{})
	var d appsv1.Deployment
	for namespace, want := range map[string]int32{"shop": 4, "lab": 3} {
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "web"}, &d); err != nil || *d.Spec.Replicas != want || d.Status.Replicas != 2 || d.Status.ReadyReplicas != 1 {
			t.Errorf("in %s: %v, %+v", namespace, err, d)
		}
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "api"}, &d); !apierrors.IsNotFound(err) {
		t.Errorf("another name: %v", err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "web"}, &appsv1.StatefulSet{}); !apierrors.IsNotFound(err) {
		t.Errorf("another kind: %v", err)
	}
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "web"}, &corev1.Pod{}); !errors.Is(err, errInner) {
		t.Errorf("a kind that is cached whole: %v", err)
	}
}

// The cache makes its informers as its options say, for example those that repeat lists and watches steadily.
func TestInformersOfTheOptions(t *testing.T) {
	made := 0
	c, err := NewCache(&rest.Config{}, cache.Options{
		Mapper: meta.NewDefaultRESTMapper(nil), HTTPClient: http.DefaultClient, Scheme: clientgoscheme.Scheme,
		NewInformer: func(source toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
			made++
			return toolscache.NewSharedIndexInformer(source, object, resync, indexers)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.(*countsCache).newInformer(nil, &appsv1.Deployment{}, 0, toolscache.Indexers{})
	if made != 1 {
		t.Errorf("%d informers made by the options, want 1", made)
	}
}
