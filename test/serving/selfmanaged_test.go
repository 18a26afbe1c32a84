package serving

import (
	"testing"

	"kyklos.io/kyklos/test/controlplane"
)

// Two replicas share a CA that is replaced every 30 seconds: after two thirds of its life. A third of 14 seconds,
// unlike one of 15, is no part of 30: the CA is never replaced just before the leaves would be, when those
// served have the least left.
func TestSelfManagedRotation(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.must(i.cluster.InstallFrom(t.Context(), i.folder(controlplane.SelfManaged), i.service.port(), failClosed))
	short := []string{"--webhook-ca-duration=45s", "--webhook-leaf-duration=14s"}
	first, firstPort := i.manager(short...)
	second, secondPort := i.manager(short...)
	i.awaitReady(first, second)
	i.testRotation(firstPort, secondPort)
}
