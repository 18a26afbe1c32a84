package api

import (
	"context"
	"flag"
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

var (
	listed = flag.Int("listed", 10_000, "how many objects BenchmarkListVersions lists")
	rounds = flag.Int("rounds", 7, "how often; the versions alternate, so that a busy machine slows all alike, and the fastest counts")
)

// BenchmarkListVersions measures how long a LIST of 10,000 objects takes in v1alpha1 and in v1beta1: cold, right after the
// API server has dropped its caches, and warm. Half of the objects use fields that only v1beta1 has. The floor is the same
// for a copy of the kind whose conversion webhook changes nothing but the version: what API servers need to call one 10,000
// times. It asserts no duration.
func BenchmarkListVersions(b *testing.B) {
	for range b.N {
		kyklos, floor := listing{group: "kyklos.io"}, newFloor(b)
		harness.Must(b, manager.Stop()) // so that no webhook is called for each object
		kyklos.crowd(b)
		floor.crowd(b)
		var err error
		manager, err = startManager(b.Context())
		harness.Must(b, err)
		before := converted(b)
		cold := fastest(b, kyklos, floor, true)
		after := converted(b)
		recordList(b, "cold", kyklos, floor, cold)
		recordList(b, "warm", kyklos, floor, fastest(b, kyklos, floor, false))
		bench.Record(b, bench.Figure{
			Area: "conversion", What: "one conversion in the webhook", Unit: "ms", Value: 1000 * (after.seconds - before.seconds) / (after.count - before.count),
		})
	}
}

func recordList(b *testing.B, state string, kyklos, floor listing, took map[listing]map[string]time.Duration) {
	b.Helper()
	for _, f := range []struct {
		what string
		kind listing
		goal float64
	}{{"v1alpha1", kyklos, 2}, {"v1alpha1, if nothing but the version changed", floor, 0}} {
		bench.Record(b, bench.Figure{
			Area: "conversion", What: fmt.Sprintf("%s LIST of %d in %s", state, *listed, f.what), Unit: "s", Goal: f.goal,
			Value: took[f.kind]["v1alpha1"].Seconds(), Floor: took[f.kind]["v1beta1"].Seconds(), Beside: "v1beta1",
		})
	}
}

// fastest lists both kinds in both versions in turns.
func fastest(b *testing.B, kyklos, floor listing, cold bool) map[listing]map[string]time.Duration {
	best := map[listing]map[string]time.Duration{kyklos: {}, floor: {}}
	for range *rounds {
		for kind, took := range best {
			for _, version := range []string{"v1beta1", "v1alpha1"} {
				if cold {
					kind.dropCaches(b)
				}
				if this := kind.list(b, version); took[version] == 0 || this < took[version] {
					took[version] = this
				}
			}
		}
	}
	return best
}

// listing is a kind of which many objects are listed.
type listing struct{ group, namespace string }

func (l listing) definition() string { return "timewindowscalers." + l.group }

// crowd fills a namespace.
func (l *listing) crowd(b *testing.B) {
	ctx := b.Context()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "crowd-"}}
	harness.Must(b, admin.Create(ctx, ns))
	b.Cleanup(func() { _ = admin.Delete(context.Background(), ns) })
	l.namespace = ns.Name
	resource := objects.Resource(schema.GroupVersionResource{Group: l.group, Version: "v1beta1", Resource: "timewindowscalers"}).Namespace(ns.Name)
	var group errgroup.Group
	group.SetLimit(16)
	for i := range *listed {
		group.Go(func() error {
			object := parse(b, []string{plain, rich}[i%2])
			object.SetAPIVersion(l.group + "/v1beta1")
			object.SetName(fmt.Sprintf("scaler-%05d", i))
			spec(object)["targetRef"].(map[string]any)["name"] = object.GetName()
			_, err := resource.Create(ctx, object, metav1.CreateOptions{})
			return err
		})
	}
	harness.Must(b, group.Wait())
}

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// dropCaches adds a short name to the definition, and waits until the API server has accepted it.
func (l listing) dropCaches(b *testing.B) {
	short := fmt.Sprintf("tws%d", time.Now().UnixNano())
	text := fmt.Sprintf(`{"spec":{"names":{"shortNames":[%q]}}}`, short)
	if _, err := objects.Resource(definitions).Patch(b.Context(), l.definition(), types.MergePatchType, []byte(text), metav1.PatchOptions{}); err != nil {
		b.Fatal(err)
	}
	accepted := func() bool {
		object, err := objects.Resource(definitions).Get(b.Context(), l.definition(), metav1.GetOptions{})
		if err != nil {
			return false
		}
		names, _, _ := unstructured.NestedStringSlice(object.Object, "status", "acceptedNames", "shortNames")
		return len(names) == 1 && names[0] == short
	}
	for !accepted() {
		continue
	}
}

// list returns how long a LIST took, including retries.
func (l listing) list(b *testing.B, version string) time.Duration {
	config := rest.CopyConfig(cluster.Config)
	config.GroupVersion = &schema.GroupVersion{Group: l.group, Version: version}
	config.APIPath, config.NegotiatedSerializer = "/apis", scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	harness.Must(b, err)
	ctx, cancel := context.WithTimeout(b.Context(), 3*time.Minute)
	defer cancel()
	for start := time.Now(); ; {
		if _, err = client.Get().Namespace(l.namespace).Resource("timewindowscalers").Do(ctx).Raw(); err == nil {
			return time.Since(start)
		}
		if ctx.Err() != nil {
			b.Fatal(err)
		}
	}
}

// conversions are how long the manager took for all of them.
type conversions struct{ seconds, count float64 }

func converted(b *testing.B) conversions {
	t := harness.NewT(b, cluster)
	const name = "controller_runtime_webhook_latency_seconds"
	return conversions{t.Sum(manager, name+`_sum{webhook="/convert"}`), t.Sum(manager, name+`_count{webhook="/convert"}`)}
}
