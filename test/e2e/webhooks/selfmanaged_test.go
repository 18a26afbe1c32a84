package serving

import (
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// Two replicas share a CA that is replaced every 30 seconds: after two thirds of its life. Two thirds of a leaf's life
// are no part of that. So a new CA comes just after a renewal and not just before one, when the leaves that are
// served have the least left: publishing it takes an API server without a processor to spare some seconds.
func TestSelfManagedRotation(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.must(i.cluster.InstallFrom(t.Context(), i.folder(harness.SelfManaged), i.service.port(), failClosed))
	short := []string{"--webhook-ca-duration=45s", "--webhook-leaf-duration=14s"}
	first, firstPort := i.manager(short...)
	second, secondPort := i.manager(short...)
	i.awaitReady(first, second)
	i.testRotation(firstPort, secondPort)
}
