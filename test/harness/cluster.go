// Package harness runs Kyklos on one machine: a Kubernetes API server with its controllers (the devcluster binary), Kyklos's
// manifests on it, and the manager as the shipped ServiceAccount. The tests and `make run` share it. T has what a test
// against such a cluster needs.
package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// make test-versions sets both: the path of another kube-apiserver than the devcluster's own, and its minor version.
const (
	apiServerVariable = "KYKLOS_TEST_APISERVER"
	MinorVariable     = "KYKLOS_TEST_VERSION"
)

// stopPatience is how long Stop waits before it kills.
const stopPatience = 30 * time.Second

// Cluster is a running control plane.
type Cluster struct {
	// Dir holds its data, its log and the admin's kubeconfig.
	Dir        string
	Kubeconfig string
	// Config is the admin's client configuration, without client-side rate limits.
	Config *rest.Config

	binary  string
	process *process
	stdin   io.Closer
	client  func() (client.WithWatch, error)
}

// Binary returns the path of a binary that `make build` makes, or says how to make it.
func Binary(name string) (string, error) {
	root, err := Root()
	if err != nil {
		return "", err
	}
	path := filepath.Join(root, "bin", name)
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s is not built yet: run make build", path)
	}
	return path, nil
}

// Root returns the repository's root: the nearest parent folder with the main module's go.mod.
func Root() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(content, []byte("module kyklos.io/kyklos\n")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not in the repository", start)
		}
	}
}

// Start starts a control plane in dir and waits until it is ready. args are further flags of `devcluster up`.
func Start(ctx context.Context, dir string, args ...string) (*Cluster, error) {
	binary, err := Binary("devcluster")
	if err != nil {
		return nil, err
	}
	args = append([]string{"up", "--dir", dir, "--exit-with-stdin"}, args...)
	if other := os.Getenv(apiServerVariable); other != "" {
		args = append(args, "--kube-apiserver="+other)
	}
	cmd := exec.Command(binary, args...)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	c := &Cluster{Dir: dir, binary: binary, stdin: stdin}
	if c.process, err = startProcess(cmd); err != nil {
		return nil, err
	}
	if c.Kubeconfig, err = awaitReadyLine(ctx, stdout); err != nil {
		_ = c.Stop()
		return nil, fmt.Errorf("start the control plane: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	if c.Config, err = clientcmd.BuildConfigFromFlags("", c.Kubeconfig); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	c.Config.QPS = -1
	c.client = sync.OnceValues(c.newClient)
	return c, nil
}

// awaitReadyLine reads the one line that a ready devcluster prints.
func awaitReadyLine(ctx context.Context, stdout io.Reader) (kubeconfig string, err error) {
	const ready = "devcluster is ready: KUBECONFIG="
	line := make(chan string, 1)
	go func() {
		defer close(line)
		scanner := bufio.NewScanner(stdout)
		for scanner.Scan() {
			if path, ok := strings.CutPrefix(scanner.Text(), ready); ok {
				line <- path
				break
			}
		}
	}()
	select {
	case path, ok := <-line:
		if !ok {
			return "", errors.New("it ended")
		}
		return path, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Client returns the admin's client for the kinds of Kubernetes and Kyklos.
func (c *Cluster) Client() (client.WithWatch, error) { return c.client() }

func (c *Cluster) newClient() (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme), v1beta1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	return client.NewWithWatch(c.Config, client.Options{Scheme: scheme})
}

// Stop ends the control plane and waits.
func (c *Cluster) Stop() error { return c.StopWithin(stopPatience) }

// StopWithin is Stop with another patience.
func (c *Cluster) StopWithin(patience time.Duration) error {
	_ = c.stdin.Close()
	return c.process.stop(syscall.SIGTERM, patience)
}

// Kill ends the control plane as a power cut would.
func (c *Cluster) Kill() error { return c.process.stop(syscall.SIGKILL, stopPatience) }

// Kubectl runs kubectl as the admin and returns its output. An error includes stderr.
func (c *Cluster) Kubectl(ctx context.Context, stdin string, args ...string) (stdout, stderr string, err error) {
	cmd := exec.CommandContext(ctx, c.binary, append([]string{"kubectl", "--kubeconfig", c.Kubeconfig}, args...)...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(errOut.String()))
	}
	return out.String(), errOut.String(), err
}

// Adopt makes c, which has been killed, the control plane that was started again in the same folder.
func (c *Cluster) Adopt(again *Cluster) { c.process, c.stdin = again.process, again.stdin }
