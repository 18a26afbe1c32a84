package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Etcd is a store in a process of its own, for a Cluster that is started with OnEtcd. Faults can hit it alone.
type Etcd struct {
	URL     string
	process *process
}

// StartEtcd starts a store in dir and waits until it takes writes. args are further flags of etcd.
func StartEtcd(ctx context.Context, dir string, args ...string) (*Etcd, error) {
	binary, err := Binary("devcluster")
	if err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	peers, err := FreePort() // it has none, but listens
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(dir, "etcd.log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	e := &Etcd{URL: fmt.Sprintf("http://127.0.0.1:%d", port)}
	cmd := exec.Command(binary, append([]string{
		"etcd", "--data-dir", filepath.Join(dir, "data"), "--listen-client-urls", e.URL, "--advertise-client-urls", e.URL,
		"--listen-peer-urls", fmt.Sprintf("http://127.0.0.1:%d", peers), "--unsafe-no-fsync", "--log-level", "warn",
	}, args...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if e.process, err = startProcess(cmd); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	err = wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case <-e.process.done:
			return false, e.process.err
		default:
		}
		return e.Call(ctx, "kv/put", map[string]any{"key": []byte("ready"), "value": []byte("yes")}, nil) == nil, nil
	})
	if err != nil {
		_ = e.Kill()
		text, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("start etcd: %w: %s", err, text[max(0, len(text)-2000):])
	}
	return e, nil
}

// OnEtcd are flags for Start that use this store.
func (e *Etcd) OnEtcd() []string { return []string{"--etcd", e.URL} }

// Call calls etcd's API as JSON, for example kv/put. Byte slices are keys and values.
func (e *Etcd) Call(ctx context.Context, method string, request, answer any) error {
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL+"/v3/"+method, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(post)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("etcd answers %s to %s", response.Status, method)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

// Put stores an object behind the API server's back, for example at kyklos.io/timewindowscalers/shop/web.
func (e *Etcd) Put(ctx context.Context, path string, object any) error {
	value, err := json.Marshal(object)
	if err != nil {
		return err
	}
	return e.Call(ctx, "kv/put", map[string]any{"key": []byte("/registry/" + path), "value": value}, nil)
}

// Signal sends a signal and does not wait.
func (e *Etcd) Signal(signal os.Signal) error { return e.process.cmd.Process.Signal(signal) }

// Kill kills the store and waits.
func (e *Etcd) Kill() error {
	_ = e.Signal(syscall.SIGCONT)
	return e.process.stop(syscall.SIGKILL, stopPatience)
}

// Slow lets the store run only in slices, a fifth of the time, as on a slow disk. The returned function ends that.
func (e *Etcd) Slow() (end func() error) {
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			for _, slice := range []struct {
				signal syscall.Signal
				length time.Duration
			}{{syscall.SIGSTOP, 200 * time.Millisecond}, {syscall.SIGCONT, 50 * time.Millisecond}} {
				err := e.Signal(slice.signal)
				select {
				case <-time.After(slice.length):
				case <-done:
					ended <- errors.Join(err, e.Signal(syscall.SIGCONT))
					return
				}
				if err != nil {
					<-done
					ended <- err
					return
				}
			}
		}
	}()
	return func() error {
		close(done)
		return <-ended
	}
}
