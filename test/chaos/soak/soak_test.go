package soak

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

var (
	length   = flag.Duration("soak", 30*time.Second, "how long the faults go on")
	seed     = flag.Uint64("seed", 0, "random seed of a run to repeat; 0 draws one")
	size     = flag.Int("objects", 60, "how many scalers there are")
	patience = flag.Duration("patience", 30*time.Second, "how long a target may lack its count in calm while the managers write nothing")
)

// mostViolations ends a run that has failed often enough.
const mostViolations = 20

// soak is one run.
type soak struct {
	*testing.T
	dir     string
	random  *rand.Rand // for the test's goroutine only
	cluster *harness.Cluster
	etcd    *harness.Etcd
	client  client.WithWatch
	webhook int

	gap      time.Duration // between two boundaries of a scaler, at least
	objects  []*object
	byKey    map[string]*object // of the target
	byName   map[string]*object // of the scaler
	replicas []*replica
	// background are actions that outlast their storm.
	background sync.WaitGroup

	mu         sync.Mutex
	active     int       // faults
	faultless  time.Time // the last fault's end
	calmSince  time.Time // the last disturbance
	progressed time.Time // the managers' last write
	settledAt  time.Time // the first time in this calm
	violations int
	overdue    map[string]time.Time // reported already
	recovered  []time.Duration      // from the last fault's end
	unsettled  int                  // how often a machine was too slow for a verdict
	late       []time.Duration      // from a boundary in calm to the write
	writes     int
	injected   map[string]int
}

// TestSoak is `make soak`. Without flags it is a short run for make test.
func TestSoak(t *testing.T) {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano()) % 1e9
	}
	repeat := fmt.Sprintf("make soak SOAK=%s SEED=%d OBJECTS=%d", *length, *seed, *size)
	fmt.Println("to repeat this run:", repeat)
	dir, err := os.MkdirTemp("", fmt.Sprintf("kyklos-soak-%d-", *seed))
	harness.Must(t, err)
	s := &soak{
		T: t, dir: dir, random: rand.New(rand.NewPCG(*seed, *seed)), byKey: map[string]*object{}, byName: map[string]*object{},
		overdue: map[string]time.Time{}, injected: map[string]int{},
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat this run: %s\nthe logs are in %s", repeat, dir)
			return
		}
		_ = os.RemoveAll(dir)
	})
	s.startCluster()
	s.createObjects()
	s.startReplicas()
	s.faultless, s.calmSince, s.progressed = time.Now(), time.Now(), time.Now()

	checking, done := context.WithCancel(t.Context())
	var checks sync.WaitGroup
	checks.Go(func() { s.keepChecking(checking) })
	checks.Go(func() { s.operate(checking) })
	defer checks.Wait()
	defer done()
	for end := time.Now().Add(*length); time.Now().Before(end) && s.failures() < mostViolations; {
		s.calm()
		s.storm()
	}
	s.background.Wait()
	s.calm()
	s.summary()
}

// startCluster starts the store and the API server, and installs Kyklos and the kind Widget.
func (s *soak) startCluster() {
	var err error
	s.etcd, err = harness.StartEtcd(s.Context(), filepath.Join(s.dir, "etcd"))
	harness.Must(s.T, err)
	s.Cleanup(func() { _ = s.etcd.Kill() })
	s.cluster, err = harness.Start(s.Context(), filepath.Join(s.dir, "cluster"), s.clusterArgs()...)
	harness.Must(s.T, err)
	s.Cleanup(func() { _ = s.cluster.Kill() })
	s.webhook, err = s.cluster.InstallOnFreePort(s.Context())
	harness.Must(s.T, err)
	s.client, err = s.cluster.Client()
	harness.Must(s.T, err)
	harness.Must(s.T, s.cluster.Apply(s.Context(), fixtures.WidgetManifests))
	_, _, err = s.cluster.Kubectl(s.Context(), "", "wait", "--for=condition=Established", "--timeout=5m", "crd", "widgets.widgets.example.com")
	harness.Must(s.T, err)
}

func (s *soak) clusterArgs() []string { return append(s.etcd.OnEtcd(), harness.HostProcesses) }

// failed reports a violation.
func (s *soak) failed(format string, args ...any) {
	s.mu.Lock()
	s.violations++
	s.mu.Unlock()
	s.Errorf("%s, seed %d: %s", clock(time.Now()), *seed, fmt.Sprintf(format, args...))
}

func (s *soak) failures() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.violations
}

// say prints at once: a long run is watched.
func (s *soak) say(format string, args ...any) {
	fmt.Printf("%s  %s\n", clock(time.Now())[:8], fmt.Sprintf(format, args...))
}
