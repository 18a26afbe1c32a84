package certs_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// startControlPlane runs a Kubernetes control plane for the length of the test
// and returns an administrator's access and the path of the audit log.
func startControlPlane(t *testing.T) (*rest.Config, string) {
	t.Helper()
	bin := os.Getenv("DEVCLUSTER_BIN")
	if bin == "" {
		bin = "../bin/devcluster"
	}
	if _, err := os.Stat(bin); err != nil {
		t.Fatalf("no control plane to test against, run make devcluster first: %v", err)
	}
	dir := t.TempDir()
	cmd := exec.Command(bin, "up", "--dir", dir, "--kubelet=false", "--audit-log", "--exit-with-stdin")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("control plane: %v", err)
		}
	})
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if _, path, ok := strings.Cut(lines.Text(), "devcluster is ready: KUBECONFIG="); ok {
			config, err := clientcmd.BuildConfigFromFlags("", path)
			if err != nil {
				t.Fatal(err)
			}
			return config, filepath.Join(dir, "audit.log")
		}
	}
	t.Fatal("the control plane ended before it was ready")
	return nil, ""
}
