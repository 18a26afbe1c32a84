package manager

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
)

var sizes = bench.Counts("sizes", nil, "how many scalers the manager's needs are measured with, as 0,100,1000; empty measures nothing")

// TestSizing measures what docs/benchmarks.md shows, as the shipped manager reports them. It asserts nothing.
func TestSizing(t *testing.T) {
	if len(*sizes) == 0 {
		t.Skip("make bench measures")
	}
	for _, count := range *sizes {
		t.Run(strconv.Itoa(count), func(t *testing.T) { newScenario(t).measure(count) })
	}
}

// measure creates scalers under a manager, and then starts another one and lets it rest.
func (s *scenario) measure(count int) {
	each, most := s.creation(count)
	bare := s.bareList()
	started := time.Now()
	m := s.shipped()
	s.AwaitReady(m)
	ready := time.Since(started)
	start := s.lookedAfter(m, count).Sub(started)
	s.atRest(m, count)
	used := s.Sum(m, cpu)
	writes := s.writes(m)
	s.rest()
	resident := s.Sum(m, memory)
	own, err := m.OwnMemory()
	s.Must(err)
	heap := s.Sum(m, "go_memstats_next_gc_bytes") / (1 + s.Sum(m, "go_gc_gogc_percent")/100)
	took, size := s.scrapes(m)
	record := func(what, unit string, value float64) {
		bench.Record(s, bench.Figure{Area: "sizing", What: fmt.Sprintf("%d schedules: %s", count, what), Unit: unit, Value: value})
	}
	record("memory after a start", "MB", resident/1e6)
	record("of it, what is not the program's file", "MB", float64(own)/1e6)
	record("heap after a start", "MB", heap/1e6)
	record("most memory while they are created", "MB", most/1e6)
	record("CPU until at rest", "s", used)
	record("writes until at rest", "writes", writes)
	record("start until ready", "s", ready.Seconds())
	looked := bench.Figure{Area: "sizing", What: fmt.Sprintf("%d schedules: start until each was looked after", count), Unit: "s", Value: start.Seconds()}
	if count >= 1000 { // the LIST of fewer is too short to compare with
		looked.Floor, looked.Beside, looked.Goal = bare.Seconds(), "one LIST by a bare client", 2
	}
	bench.Record(s, looked)
	record("a scrape", "ms", 1000*took.Seconds())
	record("size of a scrape", "MB", float64(size)/1e6)
	if count > 0 {
		record("CPU to create one", "ms", 1000*each)
	}
	s.Must(m.Stop())
}

// creation creates scalers under a manager, and returns its CPU for each and the most memory that it had.
func (s *scenario) creation(count int) (each, most float64) {
	m := s.shipped()
	s.AwaitReady(m)
	before, most := s.Sum(m, cpu), s.Sum(m, memory)
	var created errgroup.Group
	created.SetLimit(16)
	for i := range count {
		created.Go(func() error { s.CreatePair(fmt.Sprintf("web-%05d", i), 1, "09:00", "17:00"); return nil })
	}
	done := make(chan error)
	go func() { done <- created.Wait() }()
	s.slowly("all created", func() bool {
		most = max(most, s.Sum(m, memory))
		select {
		case err := <-done:
			s.Must(err)
			return true
		default:
			return false
		}
	})
	s.atRest(m, count)
	most = max(most, s.Sum(m, memory))
	each = (s.Sum(m, cpu) - before) / float64(max(count, 1))
	s.Must(m.Stop())
	return each, most
}

// bareList is how long a client takes to list and decode what the manager caches.
func (s *scenario) bareList() time.Duration {
	started := time.Now()
	s.Must(s.Client.List(s.Context(), &v1beta1.TimeWindowScalerList{}))
	s.Must(s.Client.List(s.Context(), &appsv1.DeploymentList{}))
	return time.Since(started)
}

// lookedAfter waits until there was a pass over each scaler, and returns when. It pauses, because each scrape is work, too.
func (s *scenario) lookedAfter(m *harness.Manager, count int) time.Time {
	s.Helper()
	const metric = "kyklos_effective_replicas"
	for pause := time.Duration(0); ; {
		select {
		case <-s.Context().Done():
			s.Fatalf("never saw %d scalers looked after", count)
		case <-time.After(pause):
		}
		asked := time.Now()
		if _, text := s.GetURL(m.MetricsURL + "?name[]=" + metric); strings.Count(text, "\n"+metric+"{") == count {
			return asked
		}
		pause = max(50*time.Millisecond, time.Since(asked))
	}
}

// writes counts the manager's requests that are no reads.
func (s *scenario) writes(m *harness.Manager) (total float64) {
	for _, sample := range s.Samples(m) {
		if sample.Name == "rest_client_requests_total" && !strings.Contains(sample.Labels, `method="GET"`) {
			total += sample.Value
		}
	}
	return total
}

// rest waits until Go has returned what the start needed: it collects garbage every two minutes.
func (s *scenario) rest() {
	select {
	case <-s.Context().Done():
	case <-time.After(3 * time.Minute):
	}
}

// scrapes is how long a scrape takes, the fastest of some, and its size.
func (s *scenario) scrapes(m *harness.Manager) (took time.Duration, size int) {
	took = time.Hour
	for range 5 {
		started := time.Now()
		_, text := s.GetURL(m.MetricsURL)
		took, size = min(took, time.Since(started)), len(text)
	}
	return took, size
}

// slowly is Until without a deadline, for thousands of objects.
func (s *scenario) slowly(what string, done func() bool) {
	s.Helper()
	if err := wait.PollUntilContextCancel(s.Context(), 100*time.Millisecond, true, func(context.Context) (bool, error) { return done(), nil }); err != nil {
		s.Fatalf("never saw %s", what)
	}
}

const (
	memory = "process_resident_memory_bytes"
	cpu    = "process_cpu_seconds_total"
)

// shipped starts the shipped manager.
func (s *scenario) shipped() *harness.Manager {
	s.Helper()
	return s.StartManager(harness.ManagerOptions{WebhookPort: s.Installation.WebhookPort, Args: []string{"--leader-elect=false"}})
}
