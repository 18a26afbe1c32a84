package docs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"kyklos.io/kyklos/test/docs/desk"
	"kyklos.io/kyklos/test/harness"
)

// onTheDesk runs the commands of kyklos that the documentation shows with a cluster. test/docs/desk runs all others.
func onTheDesk(t *testing.T, cluster *harness.Cluster) {
	blocks, err := desk.All(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	content, err := os.ReadFile(cluster.Kubeconfig)
	if err = errors.Join(err, os.WriteFile(kubeconfig, content, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"create", "namespace", "desk"},
		{"config", "set-context", "--current", "--namespace", "desk", "--kubeconfig", kubeconfig},
		{"apply", "-n", "desk", "-f", samplesDir + "/office-hours.yaml"},
		{"wait", "-n", "desk", "tws/webapp-office-hours", "--for", "condition=Ready", "--timeout", patience.String()},
	} {
		if _, _, err := cluster.Kubectl(t.Context(), "", args...); err != nil {
			t.Fatal(err)
		}
	}
	stage, err := desk.NewStage(t.Context(), harness.RootFor(t), t.TempDir(), "KUBECONFIG="+kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		if block.Cluster {
			t.Run(block.Name(), func(t *testing.T) {
				if err := stage.Run(t.Context(), block); err != nil {
					t.Error(err)
				}
			})
		}
	}
}
