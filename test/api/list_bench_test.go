package api

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
)

const (
	listed = 10_000
	rounds = 7 // alternate, so that a busy machine slows both versions; the fastest counts
)

// BenchmarkListVersions measures how long a LIST of 10,000 objects takes in v1alpha1 and in v1beta1: cold, right after the
// API server has dropped its caches, and warm. Half of the objects use fields that only v1beta1 has. It asserts no duration.
func BenchmarkListVersions(b *testing.B) {
	ctx := b.Context()
	for range b.N {
		namespace := crowd(b)
		cold := map[string]time.Duration{}
		for _, version := range []string{"v1beta1", "v1alpha1"} {
			dropCaches(b)
			cold[version] = list(b, version, namespace)
		}
		recordList(b, "cold", cold)
		best := map[string]time.Duration{"v1beta1": time.Hour, "v1alpha1": time.Hour}
		for range rounds {
			for version := range best {
				best[version] = min(best[version], list(b, version, namespace))
			}
		}
		recordList(b, "warm", best)
		_ = admin.Delete(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
}

func recordList(b *testing.B, state string, took map[string]time.Duration) {
	b.Helper()
	bench.Record(b, bench.Figure{
		Area: "conversion", What: fmt.Sprintf("%s LIST of %d in v1alpha1", state, listed), Unit: "s",
		Value: took["v1alpha1"].Seconds(), Floor: took["v1beta1"].Seconds(), Beside: "v1beta1", Goal: 2,
	})
}

// crowd fills a namespace while no manager runs, so that no webhook is called for each object.
func crowd(b *testing.B) (namespace string) {
	ctx := b.Context()
	harness.Must(b, manager.Stop())
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "crowd-"}}
	harness.Must(b, admin.Create(ctx, ns))
	var group errgroup.Group
	group.SetLimit(16)
	for i := range listed {
		group.Go(func() error {
			object := parse(b, []string{plain, rich}[i%2])
			object.SetAPIVersion("kyklos.io/v1beta1")
			object.SetName(fmt.Sprintf("scaler-%05d", i))
			spec(object)["targetRef"].(map[string]any)["name"] = object.GetName()
			_, err := in("v1beta1", ns.Name).Create(ctx, object, metav1.CreateOptions{})
			return err
		})
	}
	harness.Must(b, group.Wait())
	var err error
	manager, err = startManager(ctx)
	harness.Must(b, err)
	return ns.Name
}

// dropCaches adds a short name to the definition, and waits until the API server has accepted it.
func dropCaches(b *testing.B) {
	definitions := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	short := fmt.Sprintf("tws%d", time.Now().UnixNano())
	text := fmt.Sprintf(`{"spec":{"names":{"shortNames":["tws",%q]}}}`, short)
	if _, err := definitions.Patch(b.Context(), "timewindowscalers.kyklos.io", types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
		b.Fatal(err)
	}
	accepted := func() bool {
		object, err := definitions.Get(b.Context(), "timewindowscalers.kyklos.io", metav1.GetOptions{})
		if err != nil {
			return false
		}
		names, _, _ := unstructured.NestedStringSlice(object.Object, "status", "acceptedNames", "shortNames")
		return len(names) == 2 && names[1] == short
	}
	for !accepted() {
		continue
	}
}

// list returns how long a LIST took, including retries.
func list(b *testing.B, version, namespace string) time.Duration {
	config := rest.CopyConfig(cluster.Config)
	config.GroupVersion = &schema.GroupVersion{Group: "kyklos.io", Version: version}
	config.APIPath, config.NegotiatedSerializer = "/apis", scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	harness.Must(b, err)
	ctx, cancel := context.WithTimeout(b.Context(), 3*time.Minute)
	defer cancel()
	for start := time.Now(); ; {
		_, err := client.Get().Namespace(namespace).Resource("timewindowscalers").Do(ctx).Raw()
		if err == nil {
			return time.Since(start)
		}
		if ctx.Err() != nil {
			b.Fatal(err)
		}
	}
}
