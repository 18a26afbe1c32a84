package certs_test

import (
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"

	"kyklos.io/kyklos/test/harness"
)

// startControlPlane runs a Kubernetes control plane for the length of the test
// and returns an administrator's access and the path of the audit log.
func startControlPlane(t *testing.T) (*rest.Config, string) {
	t.Helper()
	cluster := harness.StartFor(t, "--kubelet=false", harness.AuditLog)
	return cluster.Config, filepath.Join(cluster.Dir, "audit.log")
}
