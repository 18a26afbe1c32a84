package certs_test

import (
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"kyklos.io/kyklos/test/controlplane"
)

// startControlPlane runs a Kubernetes control plane for the length of the test
// and returns an administrator's access and the path of the audit log.
func startControlPlane(t *testing.T) (*rest.Config, string) {
	t.Helper()
	cluster, err := controlplane.Start(t.Context(), t.TempDir(), "--kubelet=false", "--audit-log")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster.Config, filepath.Join(cluster.Dir, "audit.log")
}
