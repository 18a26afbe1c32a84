package behaviour_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The old client must keep working: same port, same certificate authority, same token, same objects. So
// must processes, which end with devcluster, also with kill -9, and are started again by the next one.
func TestRestartKeepsEverything(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := t.TempDir()
			first := own(t, dir, "--host-processes")
			serve(t, first)
			deploy(t, first, "default", 2, nil)
			available(t, first, "default", 2)
			pods := podUIDs(t, first)
			if err := first.stop(signal); err != nil && signal == syscall.SIGTERM {
				t.Fatalf("stopping: %v", err)
			}
			second := own(t, dir, "--host-processes")
			if second.config.Host != first.config.Host {
				t.Errorf("API server moved from %s to %s", first.config.Host, second.config.Host)
			}
			if again := podUIDs(t, first); again != pods {
				t.Errorf("pods were %s, after the restart the first client sees %s", pods, again)
			}
			first.kubectl(t, "scale", "deployment/web", "--replicas=3")
			available(t, first, "default", 3)
			served(t, first)
			if err := second.stop(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			if left := marked(dir); len(left) > 0 {
				t.Errorf("processes are left: %v", left)
			}
		})
	}
}

func podUIDs(t *testing.T, c *cluster) string {
	t.Helper()
	pods, err := c.client.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
	must(t, err)
	var uids strings.Builder
	for _, pod := range pods.Items {
		fmt.Fprintf(&uids, "%s %s %s\n", pod.UID, pod.Status.Phase, pod.Status.PodIP)
	}
	return uids.String()
}

func TestStopLeavesNothingRunning(t *testing.T) {
	for name, stop := range map[string]func(*cluster) error{
		"SIGTERM":      func(c *cluster) error { return c.stop(syscall.SIGTERM) },
		"SIGINT":       func(c *cluster) error { return c.stop(syscall.SIGINT) },
		"stdin closed": func(c *cluster) error { c.stdin.Close(); return c.process.Wait() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			// The API server would go on listening for a minute: it ends with the process, and in peace.
			cmd := command(t, dir, "--kubelet=false", "--apiserver-arg=--shutdown-delay-duration=1m")
			var stderr strings.Builder
			cmd.Stderr = &stderr
			c := leashed(t, launch(t, dir, cmd))
			watch, err := c.client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
			must(t, err)
			defer watch.Stop() // an open watch must not hold the stop up
			if err := stop(c); err != nil {
				t.Errorf("exit: %v, want code 0", err)
			}
			if stderr.Len() > 0 {
				t.Errorf("the terminal was not quiet: %q", stderr.String())
			}
			if err := syscall.Kill(-c.process.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("its process group still answers: %v", err)
			}
			host, err := url.Parse(c.config.Host)
			must(t, err)
			if conn, err := net.Dial("tcp", host.Host); err == nil {
				conn.Close()
				t.Errorf("%s still accepts connections", host.Host)
			}
		})
	}
}

func TestSecondStartInOneFolderIsRefused(t *testing.T) {
	c, _ := everyones(t)
	var stderr strings.Builder
	second := command(t, c.dir)
	second.Stderr = &stderr
	if err := second.Run(); err == nil {
		t.Fatal("a second devcluster ran in the same folder")
	}
	for _, want := range []string{c.dir, fmt.Sprintf("pid %d", c.process.Process.Pid), "--dir"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("message %q does not name %q", stderr.String(), want)
		}
	}
	if _, err := c.client.ServerVersion(); err != nil {
		t.Errorf("the first no longer answers: %v", err)
	}
}

func TestFixedPortInUseIsAnError(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	port := fmt.Sprint(taken.Addr().(*net.TCPAddr).Port)
	var stderr strings.Builder
	cmd := command(t, t.TempDir(), "--port", port)
	cmd.Stderr = &stderr
	if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), port) {
		t.Errorf("start on taken port %s: %v, message %q", port, err, stderr.String())
	}
}

// A remembered port may have been taken meanwhile; the cluster then moves and says so in its kubeconfig.
func TestRememberedPortInUseIsReplaced(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	defer taken.Close()
	dir := t.TempDir()
	port := taken.Addr().(*net.TCPAddr).Port
	must(t, os.WriteFile(filepath.Join(dir, "port"), fmt.Append(nil, port), 0o600))
	c := own(t, dir, "--kubelet=false")
	if strings.HasSuffix(c.config.Host, fmt.Sprintf(":%d", port)) {
		t.Errorf("kubeconfig names the taken port: %s", c.config.Host)
	}
}

func TestPodReadyDelayIsTheDefault(t *testing.T) {
	c := own(t, t.TempDir(), "--pod-ready-delay=24h")
	deploy(t, c, "default", 1, nil)
	held(t, c, "default", "Delayed")
	annotatePods(t, c, "default", "devcluster.kyklos.io/ready-delay", "0s")
	available(t, c, "default", 1)
}

// The API server calls it fatal when its start-up is cut short; the user who stops it must not see that.
func TestStopWhileStarting(t *testing.T) {
	t.Run("at once", func(t *testing.T) {
		cmd := command(t, t.TempDir()) // without a stdin it reads the end of file
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("exit: %v, output %q; want code 0 and silence", err, out)
		}
	})
	t.Run("half way", func(t *testing.T) {
		dir := t.TempDir()
		cmd := command(t, dir)
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		stdin, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		eventually(t, "API server serving", func(context.Context) error {
			log, err := os.ReadFile(filepath.Join(dir, "devcluster.log"))
			if err == nil && !strings.Contains(string(log), "Serving securely") {
				err = errors.New("not yet")
			}
			return err
		})
		stdin.Close()
		if err := cmd.Wait(); err != nil || strings.Contains(out.String(), "gave up") {
			log, _ := os.ReadFile(filepath.Join(dir, "devcluster.log"))
			t.Errorf("exit: %v, output %q; want code 0 and no complaint; it logged last:\n%s", err, out.String(), log[max(0, len(log)-8<<10):])
		}
	})
}
