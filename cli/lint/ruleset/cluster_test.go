package ruleset

import (
	"context"
	"errors"
	"strings"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kyklos.io/kyklos/internal/targetkind"
)

// clusterOf has the objects of some files, with a time of creation that is past.
func clusterOf(t *testing.T, broken interceptor.Funcs, files ...string) func(*Options) {
	t.Helper()
	builder := fake.NewClientBuilder().WithScheme(scheme()).WithInterceptorFuncs(broken)
	for _, object := range setOf(t, files...).Objects {
		u := object.Unstructured()
		if server, err := ownServer(); err != nil {
			t.Fatal(err)
		} else if server.Knows(object.GroupVersionKind()) {
			u.Object = server.Create(object, "shop").Object // with defaults, as it is stored
		}
		_ = unstructured.SetNestedField(u.Object, "2026-01-01T00:00:00Z", "metadata", "creationTimestamp")
		builder = builder.WithObjects(u)
	}
	lists := make(kindLists)
	lists.add(targetkind.Deployment.GroupVersion(), "Deployment", true, true)
	cluster := &Cluster{
		Reader: builder.Build(), kinds: targetkind.NewResolver(lists, fixedClock(noon)), apis: lists,
		scalers:      listsBy(readScalers),
		autoscalers:  listsBy(readAutoscalers),
		scaledObject: listsBy(readScaledObjects),
	}
	return func(o *Options) { o.Cluster, o.Namespace = cluster, "shop" }
}

func listsBy[T any](read func(context.Context, client.Reader, string) ([]T, error)) lists[T] {
	return lists[T]{read: read}
}

var (
	web     = workload("Deployment", "web", "  paused: false")
	metered = strings.Replace(scaler("office", "web"), "replicas: 10}", "replicas: 10, metric: {name: queue, target: {type: Value, value: '5'}, maxReplicas: 20}}", 1)
	keeper  = "apiVersion: kyklos.io/v1alpha1\nkind: Workspace\nmetadata: {namespace: shop, name: ada}\nspec:\n  image: a\n  archive: {storeRef: {name: store}}\n"
)

func TestWithCluster(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		there, files []string
		want         []string
	}{
		"all is there":           {there: []string{web, holidaysOf("2026-12-25: ")}, files: []string{scaler("office", "web", followsHolidays)}},
		"all comes with the set": {files: []string{web, holidaysOf("2026-12-25: "), scaler("office", "web", followsHolidays)}},
		"nothing is there": {files: []string{scaler("office", "web", followsHolidays)}, want: []string{
			`a.yaml:9:11 warning target-missing spec.targetRef.name: there is no Deployment "web" in namespace "shop" yet: it is scaled as soon as it exists`,
			`a.yaml:13:55 warning holidays spec.holidays.sourceRef.name: there is no ConfigMap "days" in namespace "shop" yet: until there is, holidays are days like any other`,
		}},
		"the set replaces what is there": {
			there: []string{web, holidaysOf("2020-12-25: "), autoscalerOf("cpu", "web")},
			files: []string{holidaysOf("2026-12-25: "), autoscalerOf("cpu", "api"), scaler("office", "web", followsHolidays)},
		},
		"a scaler that is there": {there: []string{web, scaler("night", "web")}, files: []string{scaler("office", "web")}, want: []string{
			"a.yaml:9:11 error target-shared spec.targetRef.name: " + sharedBy("night", ""),
		}},
		"a scaler that is there and that the set moves away": {
			there: []string{web, workload("Deployment", "api", "  paused: false"), scaler("night", "web")},
			files: []string{scaler("night", "api"), scaler("office", "web")},
		},
		"both are there": {there: []string{web, scaler("night", "web"), scaler("office", "web")},
			files: []string{strings.Replace(scaler("office", "web"), "17:00", "18:00", 1)}, want: []string{
				`a.yaml:9:11 warning target-shared spec.targetRef.name: TimeWindowScaler "night" names Deployment "web" too: it does nothing while this one, the older, exists`,
			}},
		"an autoscaler that is there": {
			there: []string{web, autoscalerOf("cpu", "web")},
			files: []string{scaler("office", "web")},
			want: []string{
				`a.yaml:9:11 warning target-autoscaled spec.targetRef.name: HorizontalPodAutoscaler "cpu" scales Deployment "web" too: each will undo what the other does, so keep only one of them`,
			},
		},
		"the target of a scaler that is there": {there: []string{web, scaler("night", "web")}, files: []string{workload("Deployment", "web", "  replicas: 3")}, want: []string{
			`a.yaml:5:13 warning target-sets-replicas spec.replicas: TimeWindowScaler "night" scales this Deployment: whoever applies this manifest, such as kubectl or Argo CD, sets 3 again; leave it out, as docs/gitops.md shows`,
		}},
		"nothing serves metrics": {there: []string{web}, files: []string{metered}, want: []string{
			`a.yaml:12:71 warning metrics-missing spec.windows[0].metric: nothing in this cluster serves external metrics (external.metrics.k8s.io): until something does, the window's replicas apply`,
		}},
		"a kind that is not there": {there: []string{web}, files: []string{of("example.com/v1", "Rollout", "web")}, want: []string{
			`a.yaml:8:11 error target-kind spec.targetRef.kind: Invalid value: "Rollout": example.com/v1 has no Rollout, and nothing else in this cluster has one that can be scaled: install what brings this kind, or correct apiVersion and kind`,
		}},
		"a Workspace without its store": {files: []string{keeper}, want: []string{
			`a.yaml:6:30 warning store-missing spec.archive.storeRef.name: there is no Secret "store" in this namespace: until there is, the home can be neither archived nor restored`,
		}},
		"a Workspace with its store in the set": {files: []string{keeper, "apiVersion: v1\nkind: Secret\nmetadata: {namespace: shop, name: store}\n"}},
		"a Workspace whose volume is there": {
			there: []string{"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: ws-ada-home}\n", "apiVersion: v1\nkind: Secret\nmetadata: {namespace: shop, name: store}\n"},
			files: []string{keeper},
			want: []string{`a.yaml:3:35 warning name-taken metadata.name: there is a PersistentVolumeClaim "ws-ada-home" already that this Workspace did not make: ` +
				`Kyklos leaves it alone, and waits until it is gone`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, judged(t, tc.files, clusterOf(t, interceptor.Funcs{}, tc.there...)), tc.want...)
		})
	}
}

// A Workspace that is there already has its volume; and what it replaces is the cluster's.
func TestUpdateOfCluster(t *testing.T) {
	t.Parallel()
	sized := strings.Replace(keeper, "  archive: {storeRef: {name: store}}", "  storage: {size: 9Gi}", 1)
	there := []string{sized, "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: ws-ada-home}\n"}
	same(t, judged(t, []string{strings.Replace(sized, "9Gi", "5Gi", 1)}, clusterOf(t, interceptor.Funcs{}, there...)),
		"a.yaml:6:19 error invalid spec.storage.size: Forbidden: must not shrink: a volume cannot be made smaller")
}

// What may not be read is told, and nothing is said for want of it.
func TestClusterThatDenies(t *testing.T) {
	t.Parallel()
	denied := errors.New("denied")
	broken := interceptor.Funcs{
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*autoscalingv2.HorizontalPodAutoscalerList); ok {
				return denied
			}
			return c.List(ctx, list, options...)
		},
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			switch object.(type) {
			case *corev1.ConfigMap, *unstructured.Unstructured: // the latter is what the set would replace
				return denied
			}
			return c.Get(ctx, key, object, options...)
		},
	}
	same(t, judged(t, []string{scaler("office", "web", followsHolidays)}, clusterOf(t, broken, web)),
		"cannot read ConfigMaps from the cluster, and judged without them: denied",
		"cannot read HorizontalPodAutoscalers from the cluster, and judged without them: denied",
		"cannot read TimeWindowScalers from the cluster, and judged without them: denied")
}
