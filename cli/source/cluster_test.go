package source_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/source"
)

// cluster is one with the objects of manifests; reads counts what is read of each kind.
func cluster(t *testing.T, reads map[string]int, manifests ...string) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if _, isConfigMap := obj.(*corev1.ConfigMap); isConfigMap && reads != nil {
				reads[key.String()]++
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	for _, text := range manifests {
		var obj client.Object = &v1beta1.TimeWindowScaler{}
		if strings.Contains(text, "kind: ConfigMap") {
			obj = &corev1.ConfigMap{}
		}
		if err := yaml.Unmarshal([]byte(text), obj); err != nil {
			t.Fatal(err)
		}
		if tws, ok := obj.(*v1beta1.TimeWindowScaler); ok {
			tws.Status.EffectiveReplicas = ptr.To[int32](5)
		}
		builder = builder.WithObjects(obj)
	}
	return builder.Build()
}

func called(name, text string) string {
	return strings.Replace(text, "name: closing", "name: "+name, 1)
}

func names(scalers []*source.Scaler) (all []string) {
	for _, s := range scalers {
		all = append(all, s.Key().String())
	}
	return all
}

func TestFromCluster(t *testing.T) {
	elsewhere := strings.Replace(called("third", closing), "namespace: stores", "namespace: elsewhere", 1)
	broken := strings.Replace(called("broken", closing), "Europe/Berlin", "Mars/Olympus", 1)
	for name, tc := range map[string]struct {
		namespace string
		names     []string
		want      []string
		problem   string
	}{
		"a namespace": {"stores", nil, []string{"stores/closing", "stores/second"}, "TimeWindowScaler stores/broken: spec.timezone: "},
		"all":         {"", nil, []string{"elsewhere/third", "stores/closing", "stores/second"}, "TimeWindowScaler stores/broken: spec.timezone: "},
		"one":         {"stores", []string{"second"}, []string{"stores/second"}, ""},
		"one of all":  {"", []string{"third"}, []string{"elsewhere/third"}, ""},
	} {
		reads := make(map[string]int)
		scalers, problems, err := source.FromCluster(t.Context(), cluster(t, reads, closing, called("second", closing), elsewhere, broken, daysOff), tc.namespace, tc.names, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(tc.want, names(scalers)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		problem := ""
		if len(problems) > 0 {
			problem = problems[0].Error()
		}
		if !strings.HasPrefix(problem, tc.problem) || (problem == "") != (tc.problem == "") {
			t.Errorf("%s: problem %q, want %q", name, problem, tc.problem)
		}
		for _, s := range scalers {
			missing := s.Namespace == "elsewhere" // it has no such ConfigMap
			if s.HolidaysMissing != missing || len(dates(s)) == 0 != missing || s.State == nil || *s.State.EffectiveReplicas != 5 {
				t.Errorf("%s: %s: holidays %v, missing %t, state %+v", name, s.Key(), dates(s), s.HolidaysMissing, s.State)
			}
		}
		if reads["stores/days-off"] > 1 {
			t.Errorf("%s: the holidays were read %d times", name, reads["stores/days-off"])
		}
	}
}

func TestHolidaysGivenForACluster(t *testing.T) {
	reads := make(map[string]int)
	scalers, _, err := source.FromCluster(t.Context(), cluster(t, reads, closing, daysOff), "stores", nil, []string{"2027-01-01"})
	if err != nil || len(scalers) != 1 || len(reads) > 0 || cmp.Diff([]string{"2027-01-01"}, dates(scalers[0])) != "" {
		t.Errorf("%v %v %v, reads %v", scalers, err, dates(scalers[0]), reads)
	}
}

// A ConfigMap that may not be read hides no schedule: today's holiday is known from the status.
func TestHolidaysThatMayNotBeRead(t *testing.T) {
	open := strings.ReplaceAll(called("open", closing), "days-off", "open-days")
	dates := strings.Replace(daysOff, "days-off", "open-days", 1)
	all := interceptor.NewClient(cluster(t, nil, closing, open, daysOff, dates).(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if key.Name == "days-off" {
				return apierrors.NewForbidden(corev1.Resource("configmaps"), key.Name, errors.New("ada may not"))
			}
			return c.Get(ctx, key, obj, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, opts ...client.ListOption) error {
			err := c.List(ctx, list, opts...)
			list.(*v1beta1.TimeWindowScalerList).Items[0].Status.Holiday = "2026-11-23"
			return err
		},
	})
	scalers, problems, err := source.FromCluster(t.Context(), all, "stores", nil, nil)
	if err != nil || len(problems) > 0 || len(scalers) != 2 {
		t.Fatal(scalers, problems, err)
	}
	hidden, known := scalers[0], scalers[1]
	if !strings.Contains(hidden.HolidaysUnread, "ada may not") || hidden.HolidaysMissing || !hidden.Calendar.Holidays["2026-11-23"] || len(hidden.Calendar.Holidays) != 1 {
		t.Errorf("%+v", hidden.Scaler)
	}
	if known.HolidaysUnread != "" || len(known.Calendar.Holidays) != 2 {
		t.Errorf("%+v", known.Scaler)
	}
	ours, _ := source.FromManifests(set(t, closing), "stores", nil)
	if err := source.Complete(t.Context(), all, ours); err != nil || ours[0].HolidaysUnread == "" || ours[0].HolidaysMissing {
		t.Errorf("%v, %+v", err, ours[0].Scaler)
	}
}

func TestNotFound(t *testing.T) {
	_, _, err := source.FromCluster(t.Context(), cluster(t, nil, closing), "stores", []string{"nobody"}, nil)
	if want := "TimeWindowScaler stores/nobody does not exist in the cluster: kubectl get timewindowscalers -A lists the existing ones"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// A cluster fills in what manifests leave open: holidays whose ConfigMap is not among them, and the state.
func TestComplete(t *testing.T) {
	newer := strings.Replace(closing, "replicas: 5", "replicas: 7", 1)
	scalers, _ := source.FromManifests(set(t, documents(newer, called("second", closing), old)), "here", nil)
	if err := source.Complete(t.Context(), cluster(t, nil, closing, daysOff), scalers); err != nil {
		t.Fatal(err)
	}
	closing, second, old := scalers[0], scalers[1], scalers[2]
	if closing.State == nil || second.State != nil || old.State != nil || closing.Calendar.Windows[0].Replicas() != 7 {
		t.Errorf("states %v, %v, %v, replicas %d", closing.State, second.State, old.State, closing.Calendar.Windows[0].Replicas())
	}
	if closing.HolidaysMissing || len(dates(closing)) != 2 || len(dates(old)) != 0 {
		t.Errorf("holidays %v, missing %t, of one that follows none %v", dates(closing), closing.HolidaysMissing, dates(old))
	}
}
