package upgrade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/test/harness"
)

const (
	namespace = "fleet"
	// patience is how long the test waits. Only a failing test takes that long.
	patience = 8 * time.Minute
)

// state is what some of the fleet's scalers are in when the upgrade comes.
type state struct {
	name  string
	count int
	// spec is v1alpha1's; replicas is what the target has from the start, -1 for no target.
	spec     map[string]any
	replicas int32
	// morning and evening are what the target should have after 09:00 and after 17:00.
	morning, evening int32
}

// states make up a fleet of 400, so many that managers work on most of it side by side and for seconds.
func states() []state {
	spec := func(more map[string]any) map[string]any {
		s := map[string]any{"timezone": "UTC", "defaultReplicas": int64(1), "windows": windows("09:00", "17:00")}
		for key, value := range more {
			s[key] = value
		}
		return s
	}
	return []state{
		{"plain", 260, spec(nil), 1, 3, 1},
		{"paused", 40, spec(map[string]any{"pause": true}), 1, 1, 1},
		// Its grace period begins before the upgrade and ends within it.
		{"grace", 40, spec(map[string]any{"windows": windows("08:00", "08:45"), "gracePeriodSeconds": int64(1200)}), 3, 1, 1},
		{"holiday", 20, spec(map[string]any{"holidays": map[string]any{"mode": "treat-as-closed", "sourceRef": map[string]any{"name": "holidays"}}}), 1, 1, 1},
		{"orphan", 20, spec(nil), -1, 0, 0},
		// Today's rules refuse it.
		{"lost", 20, spec(map[string]any{"timezone": "Mars/Olympus_Mons"}), 1, 1, 1},
	}
}

// windows is one on weekdays, with 3 replicas.
func windows(start, end string) []any {
	return []any{map[string]any{"days": []any{"Mon", "Tue", "Wed", "Thu", "Fri"}, "start": start, "end": end, "replicas": int64(3)}}
}

// fleet is a number of scalers and their targets.
type fleet struct {
	*harness.T
	states []state
	// writes is how often each target was written: its generation minus one.
	writes map[string]int64
}

// launch creates the fleet, as a client of v1alpha1.
func launch(t *harness.T) *fleet {
	t.Helper()
	f := &fleet{T: t, states: states(), writes: map[string]int64{}}
	f.Must(t.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	f.Must(t.Client.Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "holidays"}, Data: map[string]string{"2025-01-27": ""},
	}))
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(20)
	f.each(func(name string, s state) {
		group.Go(func() error { return f.create(ctx, name, s) })
	})
	f.Must(group.Wait())
	return f
}

func (f *fleet) each(visit func(name string, s state)) {
	for _, s := range f.states {
		for i := range s.count {
			visit(fmt.Sprintf("%s-%d", s.name, i), s)
		}
	}
}

func (f *fleet) create(ctx context.Context, name string, s state) error {
	if s.replicas >= 0 {
		if err := f.Client.Create(ctx, target(name, s.replicas)); err != nil {
			return err
		}
	}
	spec := map[string]any{"targetRef": map[string]any{"kind": "Deployment", "name": name}}
	for key, value := range s.spec {
		spec[key] = value
	}
	return f.Client.Create(ctx, scaler("kyklos.io/v1alpha1", name, spec))
}

func scaler(apiVersion, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": "TimeWindowScaler",
		"metadata": map[string]any{"namespace": namespace, "name": name}, "spec": spec,
	}}
}

// shrink deletes four of five scalers in each state. On the way back the API server asks for several
// conversions of each, which takes a while on a small machine.
func (f *fleet) shrink() {
	f.Helper()
	group, ctx := errgroup.WithContext(f.Context())
	group.SetLimit(20)
	for i := range f.states {
		s := &f.states[i]
		for n := s.count / 5; n < s.count; n++ {
			group.Go(func() error {
				return f.Client.Delete(ctx, scaler("kyklos.io/v1beta1", fmt.Sprintf("%s-%d", s.name, n), nil))
			})
		}
	}
	f.Must(group.Wait())
	for i := range f.states {
		f.states[i].count /= 5
	}
}

// target is a Deployment whose rollout is paused: it can be scaled, and runs no pods.
func target(name string, replicas int32) *appsv1.Deployment {
	deployment := harness.NewDeployment(namespace, name, replicas)
	deployment.Spec.Paused = true
	return deployment
}

// scalers returns every scaler in a version.
func (f *fleet) scalers(version string) map[string]*unstructured.Unstructured {
	f.Helper()
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "kyklos.io/" + version, "kind": "TimeWindowScalerList"}}
	f.List(namespace, list)
	found := map[string]*unstructured.Unstructured{}
	for i := range list.Items {
		found[list.Items[i].GetName()] = &list.Items[i]
	}
	return found
}

// awaitReplicas waits until all targets have what want says.
func (f *fleet) awaitReplicas(what string, want func(state) int32) {
	f.Helper()
	f.Eventually(what, func() error {
		wrong := ""
		replicas := f.replicas()
		f.each(func(name string, s state) {
			if s.replicas >= 0 && replicas[name] != want(s) {
				wrong = fmt.Sprintf("%s has %d replicas, want %d", name, replicas[name], want(s))
			}
		})
		if wrong != "" {
			return errors.New(wrong)
		}
		return nil
	})
}

func (f *fleet) replicas() map[string]int32 {
	f.Helper()
	replicas := map[string]int32{}
	for _, d := range f.targets() {
		replicas[d.Name] = ptr.Deref(d.Spec.Replicas, -1)
	}
	return replicas
}

func (f *fleet) targets() []appsv1.Deployment {
	f.Helper()
	var list appsv1.DeploymentList
	f.List(namespace, &list)
	return list.Items
}

// expectWrites holds the writes to each target since the last call against how far it should have
// moved: a flip that is lost has none, one that is doubled has two.
func (f *fleet) expectWrites(before, after func(state) int32) {
	f.Helper()
	seen := map[string]int64{}
	for _, d := range f.targets() {
		seen[d.Name] = d.Generation - 1
	}
	f.each(func(name string, s state) {
		want := int64(0)
		if s.replicas >= 0 && before(s) != after(s) {
			want = 1
		}
		if got := seen[name] - f.writes[name]; got != want {
			f.Errorf("%s was written %d times, want %d", name, got, want)
		}
	})
	f.writes = seen
}
