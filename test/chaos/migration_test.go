package chaos

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

const scalersCRD = "timewindowscalers.kyklos.io"

// The manager is killed repeatedly while it rewrites stored objects, before and after each kind of request. The last one
// completes the migration. Every object was written exactly once.
func TestKilledWhileMigratingStorage(t *testing.T) {
	const count = 12
	s := &scenario{fixtures.NewScaling(t, installation.OwnCluster(t, "--etcd-gateway", "--apiserver-arg=--runtime-config=storagemigration.k8s.io/v1=false"))}
	s.SetClock("2025-01-27 12:00:00")
	proxy := s.StartProxy()
	steady := s.Start(proxy, "--leader-elect=false", "--storage-migration-delay=0")
	s.AwaitReady(steady)
	s.storeAs("v1alpha1")
	for i := range count {
		s.CreatePair(fmt.Sprintf("web%02d", i), 3, "09:00", "17:00")
	}
	s.AwaitSettled(count, 3)
	s.Must(steady.Stop())
	before := s.stored()
	s.storeAs("v1beta1")

	for _, moment := range []struct {
		method, path string
		nth          int
		after        bool
	}{
		{http.MethodGet, "/timewindowscalers", 1, false},
		{http.MethodPatch, "/status", 1, false},
		{http.MethodPatch, "/status", 1, true},
		{http.MethodPatch, "/status", 6, true},
		{http.MethodPatch, scalersCRD + "/status", 1, false},
		{http.MethodPatch, scalersCRD + "/status", 1, true},
	} {
		s.killedAt(proxy, moment.method, moment.path, moment.nth, moment.after)
	}
	proxy.Inject(nil)
	s.Start(proxy, "--leader-elect=false", "--storage-migration-delay=0")
	s.Until("the end of the migration", func() bool { return slices.Equal(s.definition().Status.StoredVersions, []string{"v1beta1"}) })

	after := s.stored()
	if len(before) != count || len(after) != count {
		t.Fatalf("%d objects before and %d after, want %d", len(before), len(after), count)
	}
	for name, object := range after {
		writes, err := strconv.Atoi(before[name].Writes)
		s.Must(err)
		if want := (harness.Stored{Version: "v1beta1", Writes: strconv.Itoa(writes + 1)}); object != want {
			t.Errorf("%s: got %+v in the store, want %+v", name, object, want)
		}
	}
}

// killedAt runs a manager and kills it before or after its nth such request.
func (s *scenario) killedAt(proxy *harness.Proxy, method, path string, nth int, after bool) {
	s.Helper()
	var mu sync.Mutex
	var m *harness.Manager
	seen := 0
	proxy.Inject(func(r harness.Request, answered bool) {
		if r.Watch || answered != after || !r.Is(method, path) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if seen++; seen == nth {
			_ = m.Kill()
		}
	})
	mu.Lock()
	m = s.Start(proxy, "--leader-elect=false", "--storage-migration-delay=0")
	mu.Unlock()
	select {
	case <-m.Done():
	case <-time.After(harness.Patience):
		s.Fatalf("the manager still runs: it never sent request %d of %s %s", nth, method, path)
	}
}

func (s *scenario) stored() map[string]harness.Stored {
	s.Helper()
	found, err := s.Cluster.Stored(s.Context(), "kyklos.io/timewindowscalers")
	s.Must(err)
	return found
}

func (s *scenario) definition() *apiextensionsv1.CustomResourceDefinition {
	s.Helper()
	crd, err := s.extensions().ApiextensionsV1().CustomResourceDefinitions().Get(context.WithoutCancel(s.Context()), scalersCRD, metav1.GetOptions{})
	s.Must(err)
	return crd
}

func (s *scenario) extensions() apiextensionsclient.Interface {
	s.Helper()
	extensions, err := apiextensionsclient.NewForConfig(s.Cluster.Config)
	s.Must(err)
	return extensions
}

// storeAs makes a version the storage version, and waits until objects are stored so.
func (s *scenario) storeAs(version string) {
	s.Helper()
	s.Until("the definition changed", func() bool {
		crd := s.definition()
		for _, needed := range []string{"v1alpha1", "v1beta1"} {
			if !slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == needed }) {
				added := crd.Spec.Versions[0].DeepCopy()
				added.Name = needed
				crd.Spec.Versions = append(crd.Spec.Versions, *added)
			}
		}
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Storage = crd.Spec.Versions[i].Name == version
		}
		_, err := s.extensions().ApiextensionsV1().CustomResourceDefinitions().Update(s.Context(), crd, metav1.UpdateOptions{})
		if err != nil && !apierrors.IsConflict(err) {
			s.Fatal(err)
		}
		return err == nil
	})
	// At first nothing is stored, and the shipped definition stores another version.
	if len(s.stored()) == 0 {
		s.Until("storedVersions set", func() bool {
			crd := s.definition()
			crd.Status.StoredVersions = []string{version}
			_, err := s.extensions().ApiextensionsV1().CustomResourceDefinitions().UpdateStatus(s.Context(), crd, metav1.UpdateOptions{})
			return err == nil
		})
	}
	s.Until("objects stored as "+version, func() bool { return s.probe(version) == version })
}

// probe returns the version in which the API server stores a new object. The server sees a changed definition a moment
// later. The object is created in the wanted version, because no manager runs that could convert it.
func (s *scenario) probe(version string) string {
	s.Helper()
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "kyklos.io/" + version, "kind": "TimeWindowScaler",
		"metadata": map[string]any{"namespace": s.Namespace, "name": "probe"},
		"spec": map[string]any{
			"targetRef": map[string]any{"kind": "Deployment", "name": "probe"},
			"timezone":  "UTC", "defaultReplicas": int64(0),
			"windows": []any{map[string]any{"days": []any{"Mon"}, "start": "09:00", "end": "17:00", "replicas": int64(3)}},
		},
	}}
	if err := s.Client.Create(s.Context(), probe); err != nil {
		return "" // between two definitions
	}
	stored := s.stored()[s.Namespace+"/probe"].Version
	s.Must(s.Client.Delete(s.Context(), probe))
	return stored
}
