package targetkind_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	testingclock "k8s.io/utils/clock/testing"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/targetkind"
)

// server is an API server's discovery.
type server struct {
	mu     sync.Mutex
	lists  []*metav1.APIResourceList
	asked  []string
	failed map[schema.GroupVersion]error
	// gate holds every request until it is closed; nil holds none.
	gate chan struct{}
}

func (s *server) ServerResourcesForGroupVersionWithContext(_ context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	if s.gate != nil {
		<-s.gate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, groupVersion)
	for _, list := range s.lists {
		if list.GroupVersion == groupVersion {
			return list, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{}, groupVersion)
}

func (s *server) ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, "all")
	if s.failed != nil {
		return nil, s.lists, &discovery.ErrGroupDiscoveryFailed{Groups: s.failed}
	}
	return nil, s.lists, nil
}

func (s *server) install(groupVersion string, resources ...metav1.APIResource) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists = append(s.lists, &metav1.APIResourceList{GroupVersion: groupVersion, APIResources: resources})
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

func namespaced(name, kind string) metav1.APIResource {
	return metav1.APIResource{Name: name, Kind: kind, Namespaced: true}
}

func ordinaryCluster() *server {
	s := &server{}
	s.install("v1", namespaced("pods", "Pod"), namespaced("replicationcontrollers", "ReplicationController"),
		namespaced("replicationcontrollers/scale", "Scale"), metav1.APIResource{Name: "nodes", Kind: "Node"})
	s.install("apps/v1", namespaced("replicasets", "ReplicaSet"), namespaced("replicasets/scale", "Scale"),
		namespaced("controllerrevisions", "ControllerRevision"))
	s.install("kyklos.io/v1alpha1", namespaced("workspaces", "Workspace"), namespaced("workspaces/status", "Workspace"))
	s.install("argoproj.io/v1alpha1", namespaced("rollouts", "Rollout"), namespaced("rollouts/scale", "Scale"), namespaced("workflows", "Workflow"))
	return s
}

func newResolver(s *server) (*targetkind.Resolver, *testingclock.FakePassiveClock) {
	clock := testingclock.NewFakePassiveClock(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC))
	return targetkind.NewResolver(s, clock), clock
}

func ref(apiVersion, kind string) v1beta1.TargetRef {
	return v1beta1.TargetRef{APIVersion: apiVersion, Kind: kind, Name: "web"}
}

func rollouts() targetkind.Kind {
	return targetkind.Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"},
		Resource:         "rollouts",
	}
}

func TestKindsThatScale(t *testing.T) {
	core := targetkind.Kind{GroupVersionKind: schema.GroupVersionKind{Version: "v1", Kind: "ReplicationController"}, Resource: "replicationcontrollers"}
	for _, tc := range []struct {
		ref   v1beta1.TargetRef
		want  targetkind.Kind
		asked []string
	}{
		{ref("apps/v1", "Deployment"), targetkind.Deployment, nil},
		{ref("", "StatefulSet"), targetkind.StatefulSet, nil},
		{ref("apps/v1", "DaemonSet"), targetkind.DaemonSet, nil},
		{ref("argoproj.io/v1alpha1", "Rollout"), rollouts(), []string{"argoproj.io/v1alpha1"}},
		{ref("v1", "ReplicationController"), core, []string{"v1"}},
		{ref("kyklos.io/v1alpha1", "Workspace"), targetkind.Workspace, []string{"kyklos.io/v1alpha1"}},
	} {
		s := ordinaryCluster()
		resolver, _ := newResolver(s)
		got, err := resolver.Resolve(t.Context(), tc.ref)
		if err != nil || got != tc.want {
			t.Errorf("%v: %v, %v", tc.ref, got, err)
		}
		if diff := cmp.Diff(tc.asked, s.requests()); diff != "" {
			t.Errorf("%v: requests (-want +got)\n%s", tc.ref, diff)
		}
	}
}

// Users read these texts at apply time and in a condition.
func TestKindsThatDoNot(t *testing.T) {
	messages := golden.NewMessages(t)
	for name, tc := range map[string]struct {
		ref   v1beta1.TargetRef
		known bool // but not scalable
	}{
		"no such kind": {ref("example.com/v1", "Widget"), false},
		"in another group, where it does not scale": {ref("apps/v1", "Pod"), false}, // v1 has, but of no use
		"in another group":                          {ref("apps/v1", "Rollout"), false},
		"in another version":                        {ref("argoproj.io/v1", "Rollout"), false},
		"in other letters":                          {ref("argoproj.io/v1alpha1", "RollOut"), false},
		"without apiVersion":                        {ref("", "Workspace"), false},
		"no scale":                                  {ref("v1", "Pod"), true},
		"no scale in a group":                       {ref("argoproj.io/v1alpha1", "Workflow"), true},
		"no namespace":                              {ref("v1", "Node"), true},
	} {
		resolver, _ := newResolver(ordinaryCluster())
		_, err := resolver.Resolve(t.Context(), tc.ref)
		var unknown *targetkind.UnknownError
		var unscalable *targetkind.NotScalableError
		if errors.As(err, &unknown) == tc.known || errors.As(err, &unscalable) != tc.known {
			t.Fatalf("%s: got %v", name, err)
		}
		messages.Add(name, err.Error())
	}
}

// An existing kind is cached for ten seconds, a missing one for one second, and not longer: also when
// the clock is set back.
func TestAnswersLastForSeconds(t *testing.T) {
	s := ordinaryCluster()
	resolver, clock := newResolver(s)
	start := clock.Now()
	for _, step := range []struct {
		at     time.Duration
		ref    v1beta1.TargetRef
		before func()
		asked  []string
	}{
		{0, ref("argoproj.io/v1alpha1", "Rollout"), nil, []string{"argoproj.io/v1alpha1"}},
		{0, ref("example.com/v1", "Widget"), nil, []string{"example.com/v1", "all"}},
		{999 * time.Millisecond, ref("example.com/v1", "Widget"), nil, nil},
		{time.Second, ref("example.com/v1", "Widget"), func() {
			s.install("example.com/v1", namespaced("widgets", "Widget"), namespaced("widgets/scale", "Scale"))
		}, []string{"example.com/v1"}},
		{9999 * time.Millisecond, ref("argoproj.io/v1alpha1", "Rollout"), nil, nil},
		{10 * time.Second, ref("argoproj.io/v1alpha1", "Rollout"), nil, []string{"argoproj.io/v1alpha1"}},
		{10 * time.Second, ref("argoproj.io/v1alpha1", "Rollout"), func() { resolver.Forget(rollouts().GroupVersionKind) }, []string{"argoproj.io/v1alpha1"}},
		{-time.Hour, ref("argoproj.io/v1alpha1", "Rollout"), nil, []string{"argoproj.io/v1alpha1"}},
	} {
		clock.SetTime(start.Add(step.at))
		if step.before != nil {
			step.before()
		}
		_, _ = resolver.Resolve(t.Context(), step.ref)
		if diff := cmp.Diff(step.asked, s.requests()); diff != "" {
			t.Errorf("%s after %s: requests (-want +got)\n%s", step.ref.Kind, step.at, diff)
		}
	}
}

// An API that does not answer may have the kind: the error is not cached.
func TestAnUnresponsiveAPI(t *testing.T) {
	s := ordinaryCluster()
	away := errors.New("away")
	s.failed = map[schema.GroupVersion]error{{Group: "example.com", Version: "v1"}: away}
	resolver, _ := newResolver(s)
	if _, err := resolver.Resolve(t.Context(), ref("example.com/v1", "Widget")); !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
	var unknown *targetkind.UnknownError
	if _, err := resolver.Resolve(t.Context(), ref("example.org/v1", "Widget")); !errors.As(err, &unknown) {
		t.Errorf("another group: got %v", err)
	}
	s.failed = nil
	if _, err := resolver.Resolve(t.Context(), ref("example.com/v1", "Widget")); !errors.As(err, &unknown) {
		t.Errorf("after its return: got %v", err)
	}
}

// Many concurrent callers cost one request, and one that gives up does not affect the others.
func TestManyAskAtOnce(t *testing.T) {
	s := ordinaryCluster()
	s.gate = make(chan struct{})
	resolver, _ := newResolver(s)
	impatient, giveUp := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := resolver.Resolve(impatient, ref("argoproj.io/v1alpha1", "Rollout"))
		first <- err
	}()
	giveUp()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller that gave up: %v", err)
	}
	var all sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		all.Go(func() { _, errs[i] = resolver.Resolve(t.Context(), ref("argoproj.io/v1alpha1", "Rollout")) })
	}
	close(s.gate)
	all.Wait()
	if failed := slices.IndexFunc(errs, func(err error) bool { return err != nil }); failed >= 0 {
		t.Error(errs[failed])
	}
	if asked := s.requests(); len(asked) != 1 {
		t.Errorf("asked %q", asked)
	}
}
