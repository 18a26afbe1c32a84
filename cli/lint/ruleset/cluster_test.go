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
			status := u.Object["status"]
			u.Object = server.Create(object, "shop").Object // with defaults, as it is stored
			u.Object["status"] = status
		}
		_ = unstructured.SetNestedField(u.Object, "2026-01-01T00:00:00Z", "metadata", "creationTimestamp")
		builder = builder.WithObjects(u)
	}
	lists := make(kindLists)
	lists.add(targetkind.Deployment.GroupVersion(), "Deployment", true, true)
	cluster := &Cluster{Reader: builder.Build(), kinds: targetkind.NewResolver(lists, fixedClock(noon)), apis: lists}
	return func(o *Options) { o.Cluster, o.Namespace = cluster, "shop" }
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
			`a.yaml:9:11 warning target-missing spec.targetRef.name: Deployment "web" does not exist in namespace "shop" yet: it will be scaled once it does`,
			`a.yaml:13:55 warning holidays spec.holidays.sourceRef.name: ConfigMap "days" does not exist in namespace "shop": until it does, holidays are ordinary days`,
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
				`a.yaml:9:11 warning target-shared spec.targetRef.name: TimeWindowScaler "night" has the same target Deployment "web": it does nothing while this one exists`,
			}},
		"an autoscaler that is there": {
			there: []string{web, autoscalerOf("cpu", "web")},
			files: []string{scaler("office", "web")},
			want: []string{
				`a.yaml:9:11 warning target-autoscaled spec.targetRef.name: HorizontalPodAutoscaler "cpu" also scales Deployment "web": each overwrites what the other sets; keep only one of them, or let them take turns with driftPolicy: UntilBoundary`,
			},
		},
		"a target that another object controls": {
			there: []string{strings.Replace(web, "name: web", "name: web, ownerReferences: [{apiVersion: example.com/v1, kind: App, name: shop, uid: a, controller: true}]", 1)},
			files: []string{scaler("office", "web")},
			want: []string{
				`a.yaml:9:11 warning target-controlled spec.targetRef.name: Deployment "web" is controlled by App "shop", which may overwrite what Kyklos sets: if that can be scaled, make it the target instead`,
			},
		},
		"the target of a scaler that is there": {there: []string{web, scaler("night", "web")}, files: []string{workload("Deployment", "web", "  replicas: 3")}, want: []string{
			`a.yaml:5:13 warning target-sets-replicas spec.replicas: TimeWindowScaler "night" scales this Deployment: applying this manifest with kubectl or Argo CD resets it to 3; remove the field (see docs/gitops.md)`,
		}},
		"nothing serves metrics": {there: []string{web}, files: []string{metered}, want: []string{
			`a.yaml:12:71 warning metrics-missing spec.windows[0].metric: this cluster does not serve external metrics (external.metrics.k8s.io): until it does, the window's replicas apply`,
		}},
		"a kind that is not there": {there: []string{web}, files: []string{of("example.com/v1", "Rollout", "web")}, want: []string{
			`a.yaml:8:11 error target-kind spec.targetRef.kind: Invalid value: "Rollout": example.com/v1 has no Rollout, and nothing else in this cluster has one that can be scaled: install what brings this kind, or correct apiVersion and kind`,
		}},
		"a Workspace without its store": {files: []string{keeper}, want: []string{
			`a.yaml:6:30 warning store-missing spec.archive.storeRef.name: Secret "store" does not exist in this namespace: until it does, the home can be neither archived nor restored, and a new one begins only with restoreFrom: empty`,
		}},
		"a Workspace with its store in the set": {files: []string{keeper, "apiVersion: v1\nkind: Secret\nmetadata: {namespace: shop, name: store}\n"}},
		"a Workspace whose volume is there": {
			there: []string{"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: ws-ada-home}\n", "apiVersion: v1\nkind: Secret\nmetadata: {namespace: shop, name: store}\n"},
			files: []string{keeper},
			want: []string{`a.yaml:3:35 warning name-taken metadata.name: PersistentVolumeClaim "ws-ada-home" already exists and was not created for this Workspace: ` +
				`Kyklos does not touch it, and waits until it is deleted`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, lintFiles(t, tc.files, clusterOf(t, interceptor.Funcs{}, tc.there...)), tc.want...)
		})
	}
}

// A Workspace that is there already has its volume; and what it replaces is the cluster's.
func TestUpdateOfCluster(t *testing.T) {
	t.Parallel()
	sized := strings.Replace(keeper, "  archive: {storeRef: {name: store}}", "  storage: {size: 9Gi}", 1)
	there := []string{sized + "status: {phase: STANDBY}\n", "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: shop, name: ws-ada-home}\n"}
	same(t, lintFiles(t, []string{strings.Replace(sized, "9Gi", "5Gi", 1)}, clusterOf(t, interceptor.Funcs{}, there...)),
		"a.yaml:6:19 error invalid spec.storage.size: Forbidden: must not shrink while the home is on its volume: archive it first, with desiredState PENDING, and then change this")
}

// What cannot be read is in the notes, and nothing is reported for lack of it.
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
	same(t, lintFiles(t, []string{scaler("office", "web", followsHolidays)}, clusterOf(t, broken, web)),
		"cannot read ConfigMaps from the cluster, continuing without them: denied",
		"cannot read HorizontalPodAutoscalers from the cluster, continuing without them: denied",
		"cannot read TimeWindowScalers from the cluster, continuing without them: denied")
}
