package webhooks

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kyklos.io/kyklos/test/harness"
)

// failClosed makes a failed webhook call an error of the request.
func failClosed(object *unstructured.Unstructured) error {
	return harness.EachWebhook(object, func(webhook map[string]any) error {
		webhook["failurePolicy"] = "Fail"
		return nil
	})
}

// testRotation sends requests while every manager replaces its leaf and its CA. It expects no error in an answer, a
// connection, a log, or the API server's metrics.
func (s *scenario) testRotation(ports ...int) {
	s.Helper()
	before, quiet := s.calls(), s.complaints()
	connections := s.service.connections.Load()
	requests, seen := s.newLoad("rotation"), newHandshakes(ports)
	ctx, stop := context.WithCancel(s.Context())
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { requests.run(ctx) })
	running.Go(func() { seen.watch(ctx, s, ports) })
	// A certificate from files is served one minute after all callers trust it.
	s.Patience += time.Duration(*rotations) * time.Minute
	s.Eventually("rotations", func() error { return seen.rotated(*rotations) })
	stop()
	running.Wait()

	counted := s.calls().since(before)
	s.Logf("%d managers served leaves %v of CAs %v; requests %v, handshakes %d, connections of the API server %d, its calls %+v", len(ports),
		sizes(seen.leaves), sizes(seen.authorities), requests.requests, seen.count, s.service.connections.Load()-connections, counted)
	for _, err := range append(requests.failures, seen.failures...) {
		s.Error(err)
	}
	if counted.unanswered != 0 || counted.admitted == 0 || counted.converted == 0 {
		s.Errorf("the API server's calls: %+v, want none unanswered of many", counted)
	}
	for _, line := range s.complaints()[len(quiet):] {
		s.Error(line)
	}
	if s.service.connections.Load() == connections {
		s.Error("the API server kept its first connections, so it saw no new certificate")
	}
}

// complaints returns the log lines about failed handshakes and webhook calls.
func (s *scenario) complaints() (lines []string) {
	s.Helper()
	server, err := os.ReadFile(filepath.Join(s.Cluster.Dir, "devcluster.log"))
	s.Must(err)
	for _, log := range []string{string(server), s.ManagerLog.String()} {
		for line := range strings.Lines(log) {
			if strings.Contains(line, "TLS handshake") || strings.Contains(line, "x509: ") || strings.Contains(line, "ailed calling webhook") {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func sizes(sets map[int]map[string]bool) (all []int) {
	for _, set := range sets {
		all = append(all, len(set))
	}
	return all
}
