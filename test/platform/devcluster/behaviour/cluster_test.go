// Package behaviour_test drives the built devcluster as its users do: as a process, through its kubeconfig.
package behaviour_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// patience bounds every wait; it is not an expectation of speed, only the point where a test gives up.
const patience = 2 * time.Minute

// userAgent of the tests' own client.
const userAgent = "behaviour-test"

// The shared cluster: started by the first test that asks, kept for all that need no cluster of their own.
var (
	shared     *cluster
	sharedOnce sync.Once
	scratch    string
)

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if scratch, err = os.MkdirTemp("", "devcluster-behaviour"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(scratch)
		code := m.Run()
		if shared != nil {
			if err := shared.stop(syscall.SIGTERM); err != nil {
				fmt.Fprintln(os.Stderr, "stopping the shared cluster:", err)
				return 1
			}
		}
		return code
	}())
}

// binary is DEVCLUSTER_BIN, or else the program built once, with the flags in GOFLAGS.
var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("DEVCLUSTER_BIN"); path != "" {
		return filepath.Abs(path)
	}
	path := filepath.Join(scratch, "devcluster")
	build := exec.Command("go", "build",
		"-ldflags=-s -w -X k8s.io/component-base/version.gitVersion=v1.37.2", "-o", path, "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	build.Stderr = os.Stderr
	fmt.Fprintln(os.Stderr, "building devcluster: minutes the first time; DEVCLUSTER_BIN names one already built")
	return path, build.Run()
})

// cluster is one running devcluster.
type cluster struct {
	dir        string
	line       string // what it printed when ready
	kubeconfig string
	config     *rest.Config
	client     *kubernetes.Clientset
	process    *exec.Cmd
	stdin      io.Closer
}

// command prepares devcluster up, in a process group of its own, with the test's stdin pipe as its leash.
func command(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatalf("no devcluster binary: %v", err)
	}
	cmd := exec.Command(path, append([]string{"up", "--dir", dir, "--exit-with-stdin"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// start runs devcluster until ready; the caller stops it.
func start(t *testing.T, dir string, args ...string) *cluster {
	t.Helper()
	return launch(t, dir, command(t, dir, args...))
}

func launch(t *testing.T, dir string, cmd *exec.Cmd) *cluster {
	t.Helper()
	c := &cluster{dir: dir, process: cmd}
	stdout, err := c.process.StdoutPipe()
	must(t, err)
	if c.stdin, err = c.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if c.process.Stderr == nil {
		c.process.Stderr = os.Stderr
	}
	must(t, c.process.Start())
	if c.line, err = bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("devcluster ended before it was ready: %v", c.process.Wait())
	}
	_, c.kubeconfig, _ = strings.Cut(strings.TrimSpace(c.line), "KUBECONFIG=")
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.kubeconfig); err != nil {
		t.Fatalf("kubeconfig of %q: %v", c.line, err)
	}
	c.config.QPS, c.config.UserAgent = -1, userAgent
	if c.client, err = kubernetes.NewForConfig(c.config); err != nil {
		t.Fatal(err)
	}
	return c
}

// own starts a cluster that ends with the test.
func own(t *testing.T, dir string, args ...string) *cluster {
	t.Helper()
	return leashed(t, start(t, dir, args...))
}

func leashed(t *testing.T, c *cluster) *cluster {
	t.Cleanup(func() {
		if c.process.ProcessState == nil {
			_ = c.stop(syscall.SIGKILL) // reports the kill itself
		}
	})
	return c
}

// withoutZoneFiles starts a cluster that sees an empty folder where the host keeps its zone files.
func withoutZoneFiles(t *testing.T) *cluster {
	t.Helper()
	const zones = "/usr/share/zoneinfo"
	dir := t.TempDir()
	cmd := command(t, dir, "--kubelet=false")
	if _, err := os.Stat(zones); err == nil {
		cmd.Args = append([]string{"sh", "-c", "mount -t tmpfs none " + zones + ` && exec "$0" "$@"`}, cmd.Args...)
		cmd.Path = "/bin/sh"
		// A user and mount namespace of its own: needs no root, and the host does not see the mount.
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return leashed(t, launch(t, dir, cmd))
}

// everyones returns the shared cluster and a namespace for this test alone.
func everyones(t *testing.T) (*cluster, string) {
	t.Helper()
	sharedOnce.Do(func() { shared = start(t, filepath.Join(scratch, "shared"), "--audit-log", "--host-processes") })
	if shared == nil {
		t.Fatal("the shared cluster did not start")
	}
	ns, err := shared.client.CoreV1().Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}, metav1.CreateOptions{})
	must(t, err)
	// Pods are refused until the ServiceAccount controller has seen the namespace.
	eventually(t, "default ServiceAccount", func(ctx context.Context) error {
		_, err := shared.client.CoreV1().ServiceAccounts(ns.Name).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	return shared, ns.Name
}

// stop signals the process and waits for it; an exit code other than 0 is an error.
func (c *cluster) stop(signal syscall.Signal) error {
	if err := c.process.Process.Signal(signal); err != nil {
		return err
	}
	return c.process.Wait()
}

// kubectl runs the binary as kubectl and returns its stdout.
func (c *cluster) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	path, err := binary()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), path, append([]string{"kubectl"}, args...)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// eventually repeats check until it returns nil.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
