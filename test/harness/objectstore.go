package harness

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// ObjectStore is a running versitygw: an S3 store that keeps objects as files, and supports signatures and conditional
// writes.
type ObjectStore struct {
	Endpoint, AccessKeyID, SecretAccessKey, Bucket string
	// Folder is the bucket's folder. Its files are the objects; tests may damage them.
	Folder string

	address string
	process *process
	log     io.Writer
}

// StartObjectStore runs bin/versitygw with one bucket below folder, and an optional log. It uses the address of an earlier
// run in folder if that is free.
func StartObjectStore(ctx context.Context, folder string, log io.Writer) (*ObjectStore, error) {
	address, err := addressFor(folder)
	if err != nil {
		return nil, err
	}
	store := &ObjectStore{
		Endpoint: "http://" + address, AccessKeyID: "kyklos", SecretAccessKey: "a-secret-of-the-tests", Bucket: "homes",
		Folder: filepath.Join(folder, "homes"), address: address, log: log,
	}
	if err := os.MkdirAll(store.Folder, 0o700); err != nil {
		return nil, err
	}
	return store, store.Start(ctx)
}

// addressFor returns the address in the folder's file, or writes a free one to it.
func addressFor(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(folder, "address")
	if before, err := os.ReadFile(file); err == nil {
		if address, err := netip.ParseAddrPort(string(before)); err == nil {
			if _, err := reserve(int(address.Port())); err == nil {
				return address.String(), nil
			}
		}
	}
	port, err := FreePort()
	if err != nil {
		return "", err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	return address, os.WriteFile(file, []byte(address), 0o600)
}

// Start starts it again at the same address after Stop or Kill.
func (s *ObjectStore) Start(ctx context.Context) error {
	binary, err := Binary("versitygw")
	if err != nil {
		return err
	}
	cmd := exec.Command(binary, "--port", s.address, "--access", s.AccessKeyID, "--secret", s.SecretAccessKey,
		"--health", "/health", "--quiet", "posix", filepath.Dir(s.Folder))
	cmd.Stdout, cmd.Stderr = s.log, s.log
	if s.process, err = startProcess(cmd); err != nil {
		return err
	}
	if err := s.wait(ctx); err != nil {
		_ = s.Kill()
		return err
	}
	return nil
}

// wait waits until it answers.
func (s *ObjectStore) wait(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Endpoint+"/health", nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			return answer.Body.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("versitygw does not answer at %s: %w", s.address, err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Done is closed when the current process has ended.
func (s *ObjectStore) Done() <-chan struct{} { return s.process.done }

// Stop ends it and waits.
func (s *ObjectStore) Stop() error { return s.process.stop(syscall.SIGTERM, stopPatience) }

// Kill ends it at once.
func (s *ObjectStore) Kill() error { return s.process.stop(syscall.SIGKILL, stopPatience) }
