package manager

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// heartbeatOf runs the command against a fake API server, and returns the requests
// it received.
func heartbeatOf(t *testing.T, status int, args ...string) (path string, lease coordinationv1.Lease, err error) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path = r.Method + " " + r.URL.Path + "?" + r.URL.RawQuery
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &lease); err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	defer server.Close()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	config := `{clusters: [{name: x, cluster: {server: "` + server.URL + `"}}], contexts: [{name: x, context: {cluster: x, namespace: team}}], current-context: x}`
	if err := os.WriteFile(kubeconfig, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	command := newCommand()
	command.SetErr(new(bytes.Buffer))
	command.SetArgs(append([]string{"heartbeat", "--kubeconfig", kubeconfig, "--workspace", "ann"}, args...))
	return path, lease, command.ExecuteContext(t.Context())
}

func TestOneHeartbeat(t *testing.T) {
	before := time.Now().Add(-time.Microsecond)
	path, lease, err := heartbeatOf(t, http.StatusOK, "--every", "0", "--holder", "proxy")
	if err != nil {
		t.Fatal(err)
	}
	if want := "PATCH /apis/coordination.k8s.io/v1/namespaces/team/leases/ws-ann-activity?fieldManager=kyklos-heartbeat&force=true"; path != want {
		t.Errorf("asked for %s, want %s", path, want)
	}
	if lease.Spec.RenewTime == nil || lease.Spec.RenewTime.Time.Before(before) || *lease.Spec.HolderIdentity != "proxy" {
		t.Errorf("%+v", lease.Spec)
	}
	if path, _, _ := heartbeatOf(t, http.StatusOK, "--every", "0", "--namespace", "other"); !strings.Contains(path, "/namespaces/other/") {
		t.Errorf("asked for %s", path)
	}
	if _, _, err := heartbeatOf(t, http.StatusForbidden, "--every", "0"); err == nil || !strings.Contains(err.Error(), "renew the activity Lease") {
		t.Errorf("a refusal: %v", err)
	}
	if path, _, err := heartbeatOf(t, http.StatusOK, "--every", "-1s"); err == nil || path != "" {
		t.Errorf("a negative pace: %v, asked for %s", err, path)
	}
	if path, _, err := heartbeatOf(t, http.StatusOK, "--every", "0", "--while-file-newer", filepath.Join(t.TempDir(), "none")); err != nil || path != "" {
		t.Errorf("not in use: %v, requested %s", err, path)
	}
}

// A failed heartbeat is repeated, a successful one is not.
func TestHeartbeatsContinue(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	first := time.Unix(1000, 0)
	used := []time.Time{first, first, first, {}, first.Add(time.Minute), first} // finally the clock is set back
	var beats []time.Time
	h := &heartbeatSender{
		log: slog.New(slog.DiscardHandler),
		used: func(time.Time) (at time.Time, err error) {
			if len(used) == 0 {
				cancel()
				return time.Time{}, errors.New("one call too many")
			}
			at, used = used[0], used[1:]
			return at, nil
		},
		send: func(_ context.Context, at time.Time) error {
			if beats = append(beats, at); len(beats) == 1 {
				return errors.New("the API server is away")
			}
			return nil
		},
	}
	if err := h.run(ctx, time.Microsecond); err != nil {
		t.Fatal(err)
	}
	if want := []time.Time{first, first, first.Add(time.Minute), first}; !slices.Equal(beats, want) {
		t.Errorf("beats at %v, want %v", beats, want)
	}
}

func TestWhenAWorkspaceIsUsed(t *testing.T) {
	file, written := filepath.Join(t.TempDir(), "heartbeat"), time.Unix(5000, 0)
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Chtimes(file, written, written)); err != nil {
		t.Fatal(err)
	}
	missing := file + ".none"
	for name, test := range map[string]struct {
		options heartbeatOptions
		after   time.Time
		want    time.Time
	}{
		"a new file":             {heartbeatOptions{files: []string{missing, file}}, written.Add(-time.Second), written},
		"an old file":            {heartbeatOptions{files: []string{file}}, written, time.Time{}},
		"the clock was set back": {heartbeatOptions{files: []string{file}}, time.Now().Add(time.Hour), written},
		"no file yet":            {heartbeatOptions{files: []string{missing}}, time.Time{}, time.Time{}},
		"or another start":       {heartbeatOptions{files: []string{file, missing}}, time.Time{}, written},
	} {
		if got, err := test.options.used(test.after); !got.Equal(test.want) || err != nil {
			t.Errorf("%s: %v, %v, want %v", name, got, err, test.want)
		}
	}
	if _, err := (heartbeatOptions{files: []string{file + "/below"}}).used(time.Time{}); err == nil {
		t.Error("an unreadable file counts as an old one")
	}
}

func TestAWorkspaceIsUsedWhileSomebodyIsConnected(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc/net/tcp")
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	options := heartbeatOptions{connections: uint16(listener.Addr().(*net.TCPAddr).Port)}
	if at, err := options.used(time.Time{}); !at.IsZero() || err != nil {
		t.Errorf("without a connection: %v, %v", at, err)
	}
	connection, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if at, err := options.used(time.Time{}); at.IsZero() || err != nil {
		t.Errorf("with a connection: %v, %v", at, err)
	}
}
