package webhooks

import (
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// Two replicas share a CA that is replaced every 30 seconds: after two thirds of its life. Two thirds of a leaf's life
// are not part of that. So a new CA comes just after a renewal and not just before one, when the leaves that are
// served have the least left: publishing it takes an API server without a processor to spare some seconds.
func TestSelfManagedRotation(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.Must(s.Cluster.InstallFrom(t.Context(), s.folder(harness.SelfManaged), s.service.port(), failClosed))
	short := []string{"--webhook-ca-duration=45s", "--webhook-leaf-duration=14s"}
	first, firstPort := s.manager(short...)
	second, secondPort := s.manager(short...)
	s.AwaitReady(first, second)
	s.testRotation(firstPort, secondPort)
}
