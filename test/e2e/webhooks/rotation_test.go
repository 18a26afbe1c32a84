package serving

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

// failClosed makes a webhook that cannot be called an error that clients see.
func failClosed(object *unstructured.Unstructured) error {
	return harness.EachWebhook(object, func(webhook map[string]any) error {
		webhook["failurePolicy"] = "Fail"
		return nil
	})
}

// testRotation sends requests while every manager replaces its leaf and its CA, and wants no fault anywhere:
// not in an answer, in a connection, in a process's log or in what the API server counts.
func (i *installation) testRotation(ports ...int) {
	i.Helper()
	before, quiet := i.evidence(), i.complaints()
	connections := i.service.connections.Load()
	requests, seen := i.newLoad("rotation"), newWitness(ports)
	ctx, stop := context.WithCancel(i.Context())
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { requests.run(ctx) })
	running.Go(func() { seen.watch(ctx, i, ports) })
	// A certificate from files is served a minute after everybody trusts it.
	i.within(patience+time.Duration(*rotations)*time.Minute, "rotations", func() error { return seen.rotated(*rotations) })
	stop()
	running.Wait()

	counted := i.evidence().since(before)
	i.Logf("%d managers served leaves %v of CAs %v; requests %v, handshakes %d, connections of the API server %d, its calls %+v", len(ports),
		sizes(seen.leaves), sizes(seen.authorities), requests.requests, seen.handshakes, i.service.connections.Load()-connections, counted)
	for _, err := range append(requests.failures, seen.failures...) {
		i.Error(err)
	}
	if counted.unanswered != 0 || counted.judged == 0 || counted.converted == 0 {
		i.Errorf("the API server's calls: %+v, want none unanswered of many", counted)
	}
	for _, line := range i.complaints()[len(quiet):] {
		i.Error(line)
	}
	if i.service.connections.Load() == connections {
		i.Error("the API server kept its first connections: nothing was rotated for it")
	}
}

// complaints are the lines of every log that tell of a failed handshake or a webhook that was not reached.
func (i *installation) complaints() (lines []string) {
	i.Helper()
	server, err := os.ReadFile(filepath.Join(i.cluster.Dir, "devcluster.log"))
	i.must(err)
	for _, log := range []string{string(server), i.log.String()} {
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
