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
	cluster := controlplane.StartFor(t, "--kubelet=false", controlplane.AuditLog)
	return cluster.Config, filepath.Join(cluster.Dir, "audit.log")
}
