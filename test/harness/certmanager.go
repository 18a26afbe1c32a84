package harness

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// CertManager is a running cert-manager.
type CertManager struct{ process *process }

// InstallCertManager applies the CustomResourceDefinitions of cert-manager.
func (c *Cluster) InstallCertManager(ctx context.Context) error {
	root, err := Root()
	if err != nil {
		return err
	}
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager")
	list.Dir = filepath.Join(root, "test", "platform", "certmanager") // has the version of bin/certmanager
	module, err := list.Output()
	if err != nil {
		return fmt.Errorf("find the definitions of cert-manager: %w", err)
	}
	folder := filepath.Join(strings.TrimSpace(string(module)), "deploy", "crds")
	if _, _, err := c.Kubectl(ctx, "", "apply", "--server-side", "-f", folder); err != nil {
		return err
	}
	_, _, err = c.Kubectl(ctx, "", "wait", "--for=condition=Established", "--timeout=5m", "-f", folder)
	return err
}

// StartCertManager runs bin/certmanager as the admin, with an optional log. The cluster must have its definitions; see
// InstallCertManager.
func (c *Cluster) StartCertManager(log io.Writer) (*CertManager, error) {
	binary, err := Binary("certmanager")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, "-kubeconfig", c.Kubeconfig)
	cmd.Stdout, cmd.Stderr = log, log
	child, err := startProcess(cmd)
	if err != nil {
		return nil, err
	}
	return &CertManager{process: child}, nil
}

// Stop ends cert-manager and waits.
func (m *CertManager) Stop() error { return m.process.stop(syscall.SIGTERM, stopPatience) }
