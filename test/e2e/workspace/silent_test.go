package workspace

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	workspaces "kyklos.io/kyklos/controller/workspace"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/wallclock"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// Tenants have 36 Workspaces on 12 stores that accept connections and never answer, and calls may take as long as they like. That
// holds up nobody else (W59).
func TestSilentStoresHoldUpNobodyElse(t *testing.T) {
	good := newScenario(t)
	var asked atomic.Int64
	released := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		select {
		case <-r.Context().Done():
		case <-released:
		}
	}))
	defer silent.Close()
	defer close(released)
	namespaces := []string{good.Namespace}
	for range 3 {
		evil := &fixtures.Workspaces{T: good.T, Namespace: good.NewNamespace("evil-"), Store: good.Store}
		namespaces = append(namespaces, evil.Namespace)
		for i := range 12 {
			store := fmt.Sprint("store-", i%4)
			if i < 4 {
				evil.Must(evil.Client.Create(t.Context(), &corev1.Secret{
					ObjectMeta: metav1.ObjectMeta{Namespace: evil.Namespace, Name: store},
					StringData: map[string]string{"endpoint": silent.URL, "bucket": "homes", "accessKeyID": "a", "secretAccessKey": "b"},
				}))
			}
			ws := evil.NewWorkspace(fmt.Sprint("home-", i), "/bin/sleep", "100000")
			ws.Spec.Archive.StoreRef.Name = store
			evil.Must(evil.Client.Create(t.Context(), ws))
			ws.Status.Phase = "PENDING" // without a word on archives: the store is asked
			evil.Must(evil.Client.Status().Update(t.Context(), ws))
		}
	}
	defer lead(good, namespaces)()
	good.Until("calls that hang", func() bool { return asked.Load() >= 12 }) // 4 for each namespace

	good.Create("/bin/sleep", "100000")
	good.AwaitSettled(fixtures.Running)
	good.Change(`{"desiredState":"PENDING"}`)
	good.AwaitSettled(fixtures.Archived)
	if n := asked.Load(); n != 12 {
		t.Errorf("%d calls of silent stores, want 4 for each namespace", n)
	}
}

// lead runs the controller with patience for stores.
func lead(s *scenario, namespaces []string) (stop func()) {
	s.Helper()
	kyklos, err := harness.Binary("kyklos")
	s.Must(err)
	config, err := cluster.ManagerConfig(s.Context())
	s.Must(err)
	var caches cache.Options
	workspaces.CacheOptions(&caches, namespaces)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: s.Client.Scheme(), Logger: logr.Discard(), Metrics: metricsserver.Options{BindAddress: "0"}, Cache: caches,
	})
	s.Must(err)
	s.Must(workspaces.SetupWithManager(s.Context(), mgr, workspaces.Options{
		Clock: wallclock.Clock, Workers: workspaces.DefaultWorkers, Limits: workspaces.DefaultLimits, MoverImage: harness.HostImage(kyklos), NoClasses: true,
		StoreTimeout: time.Hour, Endpoints: endpoints.Local,
	}))
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- mgr.Start(ctx) }()
	return func() {
		cancel()
		s.Must(<-stopped)
	}
}
