package certificates

import (
	"testing"

	"kyklos.io/kyklos/test/controlplane"
)

// Two replicas share a CA that is replaced every 30 seconds: after two thirds of its life.
func TestSelfManagedRotation(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	i.must(i.cluster.InstallFrom(t.Context(), i.folder(controlplane.SelfManaged), i.service.port(), failClosed))
	short := []string{"--webhook-ca-duration=45s", "--webhook-leaf-duration=15s"}
	first, firstPort := i.manager(short...)
	second, secondPort := i.manager(short...)
	i.awaitReady(first, second)
	i.testRotation(firstPort, secondPort)
}
