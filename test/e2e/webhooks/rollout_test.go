package webhooks

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// Both replicas are replaced under load, as by the shipped Deployment: a new one is ready before an old one stops, and the
// old one still gets calls for a while and has open connections when it stops. No request fails. Then a replica is killed,
// and after its endpoint is removed the other one answers all requests.
func TestRollout(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.Must(s.Cluster.InstallFrom(t.Context(), s.folder(harness.SelfManaged), s.service.port(), failClosed))
	replicas := []*replica{s.replica(), s.replica()}

	before, quiet := s.calls(), s.complaints()
	requests := s.newLoad("rollout")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { requests.run(ctx) })
	s.awaitMore(requests, 100)
	for n, old := range replicas {
		replicas[n] = s.replica()
		s.awaitMore(requests, 100) // the five seconds of the shipped preStop hook
		s.service.remove(old.port)
		s.awaitMore(requests, 50)
		s.Must(old.Stop())
	}
	s.awaitMore(requests, 100)
	stop()
	running.Wait()
	counted := s.calls().since(before)
	t.Logf("requests %v, the API server's calls %+v", requests.requests, counted)
	for _, err := range requests.failures {
		t.Error(err)
	}
	if counted.unanswered != 0 || counted.admitted == 0 || counted.converted == 0 {
		t.Errorf("the API server's calls: %+v, want none unanswered of many", counted)
	}
	for _, line := range s.complaints()[len(quiet):] {
		t.Error(line)
	}
	s.crash(replicas[0])
}

// crash kills a replica. Requests succeed without it.
func (s *scenario) crash(victim *replica) {
	s.Helper()
	s.Must(victim.Kill())
	s.service.remove(victim.port)
	alone := s.newLoad("alone")
	ctx, stop := context.WithCancel(s.Context())
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { alone.run(ctx) })
	s.awaitMore(alone, 100)
	stop()
	running.Wait()
	for _, err := range alone.failures {
		s.Error(err)
	}
}

// replica is a manager that is ready and behind the Service.
type replica struct {
	*harness.Manager
	port int
}

func (s *scenario) replica() *replica {
	s.Helper()
	m, port := s.start()
	s.AwaitReady(m)
	s.service.add(port)
	return &replica{Manager: m, port: port}
}

// awaitMore waits for so many more answers.
func (s *scenario) awaitMore(l *load, count int) {
	s.Helper()
	want := l.answered() + count
	s.Eventually("answers", func() error {
		if got := l.answered(); got < want {
			return fmt.Errorf("%d of %d", got, want)
		}
		return nil
	})
}
