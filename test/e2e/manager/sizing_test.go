package manager

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"

	"kyklos.io/kyklos/test/harness"
)

var sizes = flag.String("sizes", "", "how many scalers the manager's needs are measured with, as 0,100,1000; empty measures nothing")

// TestSizing prints the figures of docs/sizing.md as the shipped manager reports them. It asserts nothing.
func TestSizing(t *testing.T) {
	if *sizes == "" {
		t.Skip("make bench measures")
	}
	for text := range strings.SplitSeq(*sizes, ",") {
		count, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("-sizes: %v", err)
		}
		t.Run(text, func(t *testing.T) { newScenario(t).measure(count) })
	}
}

// measure creates scalers under a manager, and then starts another one.
func (s *scenario) measure(count int) {
	first := s.shipped()
	s.AwaitReady(first)
	before, most := s.Sum(first, cpu), s.Sum(first, memory)
	var created errgroup.Group
	created.SetLimit(16)
	for i := range count {
		created.Go(func() error { s.CreatePair(fmt.Sprintf("web-%05d", i), 1, "09:00", "17:00"); return nil })
	}
	done := make(chan error)
	go func() { done <- created.Wait() }()
	s.slowly("all created", func() bool {
		most = max(most, s.Sum(first, memory))
		select {
		case err := <-done:
			s.Must(err)
			return true
		default:
			return false
		}
	})
	s.slowly("every scaler reconciled", func() bool {
		most = max(most, s.Sum(first, memory))
		return s.Sum(first, "controller_runtime_reconcile_total") >= float64(count) && s.Sum(first, "workqueue_depth") == 0
	})
	each := (s.Sum(first, cpu) - before) / float64(max(count, 1))
	s.Must(first.Stop())

	second := s.shipped()
	s.AwaitReady(second)
	ready := s.Sum(second, cpu)
	s.slowly("the queue empty", func() bool {
		return s.Sum(second, "controller_runtime_reconcile_total") >= float64(count) && s.Sum(second, "workqueue_depth") == 0
	})
	fmt.Printf("%6d scalers: %4.0f MB after a start, at most %4.0f MB while they were created, %.1f s of CPU until ready, %.1f ms of CPU for creating each\n",
		count, s.Sum(second, memory)/1e6, most/1e6, ready, 1000*each)
	s.Must(second.Stop())
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
