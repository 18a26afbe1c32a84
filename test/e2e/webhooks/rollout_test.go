package serving

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// Both replicas are replaced under load, as the shipped Deployment does it: a new one is ready before an old
// one goes, the old one is called for a while after it was told to go, and its connections are still open
// when it stops. No request fails. Then a replica crashes: as soon as the Service knows, the other answers alone.
func TestReplicasAreReplaced(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.must(i.cluster.InstallFrom(t.Context(), i.folder(harness.SelfManaged), i.service.port(), failClosed))
	replicas := []*replica{i.replica(), i.replica()}

	before, quiet := i.evidence(), i.complaints()
	requests := i.newLoad("rollout")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { requests.run(ctx) })
	i.awaitMore(requests, 100)
	for n, old := range replicas {
		replicas[n] = i.replica()
		i.awaitMore(requests, 100) // the five seconds of the shipped preStop hook
		i.service.remove(old.port)
		i.awaitMore(requests, 50)
		i.must(old.Stop())
	}
	i.awaitMore(requests, 100)
	stop()
	running.Wait()
	counted := i.evidence().since(before)
	t.Logf("requests %v, the API server's calls %+v", requests.requests, counted)
	for _, err := range requests.failures {
		t.Error(err)
	}
	if counted.unanswered != 0 || counted.judged == 0 || counted.converted == 0 {
		t.Errorf("the API server's calls: %+v, want none unanswered of many", counted)
	}
	for _, line := range i.complaints()[len(quiet):] {
		t.Error(line)
	}
	i.crash(replicas[0])
}

// crash kills one of the replicas, and requests go on without it.
func (i *installation) crash(victim *replica) {
	i.Helper()
	i.must(victim.Kill())
	i.service.remove(victim.port)
	alone := i.newLoad("alone")
	ctx, stop := context.WithCancel(i.Context())
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { alone.run(ctx) })
	i.awaitMore(alone, 100)
	stop()
	running.Wait()
	for _, err := range alone.failures {
		i.Error(err)
	}
}

// replica is a manager that is ready and behind the Service.
type replica struct {
	*harness.Manager
	port int
}

func (i *installation) replica() *replica {
	i.Helper()
	m, port := i.start()
	i.awaitReady(m)
	i.service.add(port)
	return &replica{Manager: m, port: port}
}

// awaitMore waits until the load has been answered so many times more.
func (i *installation) awaitMore(l *load, count int) {
	i.Helper()
	want := l.answered() + count
	i.eventually("answers", func() error {
		if got := l.answered(); got < want {
			return fmt.Errorf("%d of %d", got, want)
		}
		return nil
	})
}
