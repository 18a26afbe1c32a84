package manager

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/activity"
)

// listens listens on a port whose connections the kernel shows.
func listens(t *testing.T) net.Listener {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc/net/tcp")
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}

// A client of a port is noticed while it is connected, and for a while after.
func TestActivityOfARealConnection(t *testing.T) {
	listener := listens(t)
	options := watchOptions{
		ports: []uint{uint(listener.Addr().(*net.TCPAddr).Port)},
		watch: activity.Watch{Lasts: time.Minute, IgnoreShorter: 10 * time.Second, First: true},
	}
	if err := options.complete(); err != nil {
		t.Fatal(err)
	}
	last := time.Duration(0)
	expect := func(at time.Duration, want activity.State) {
		t.Helper()
		for last += 20 * time.Second; last < at; last += 20 * time.Second {
			options.look(last, io.Discard)
		}
		last = at
		if got, _ := options.look(at, io.Discard); got != want {
			t.Errorf("after %s: %q, want %q", at, got, want)
		}
	}
	expect(0, activity.Used)
	expect(time.Minute, activity.Idle)
	connection, err := net.Dial("tcp4", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	expect(61*time.Second, activity.Idle)
	expect(71*time.Second, activity.Used)
	expect(time.Hour, activity.Used)
	if err := connection.Close(); err != nil {
		t.Fatal(err)
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server.Close()
	expect(time.Hour+59*time.Second, activity.Used)
	expect(time.Hour+60*time.Second, activity.Idle)
	listener.Close()
	expect(2*time.Hour, activity.Silent)
}

func TestActivityOfProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	options := watchOptions{watch: activity.Watch{CPUPercent: 1, Lasts: time.Minute}}
	first, err := options.sample(0)
	if err != nil || first.CPU <= 0 {
		t.Errorf("%+v, %v", first, err)
	}
}

// The watcher writes the state until it is ended; a container's probe reads it.
func TestActivityState(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	command := newCommand()
	command.SetErr(io.Discard)
	command.SetArgs([]string{"activity", "watch", "--state", state, "--ports", "1", "--use-lasts", "10s"})
	go func() { done <- command.ExecuteContext(ctx) }()
	for checkState(state, time.Now()) != nil {
		select {
		case err := <-done:
			t.Fatalf("it ended: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	now := time.Now()
	for name, test := range map[string]struct {
		text  activity.State
		want  string
		after time.Duration
	}{
		"idle":             {activity.Idle, "idle", 0},
		"not written yet":  {"", "idle", 0},
		"a hanging writer": {activity.Used, "nothing has been known since", 2 * time.Minute},
	} {
		if err := errors.Join(os.WriteFile(state, []byte(test.text), 0o600), os.Chtimes(state, now, now)); err != nil {
			t.Fatal(err)
		}
		if err := checkState(state, now.Add(test.after)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := checkState(state+".none", now); err == nil {
		t.Error("a missing file passes")
	}
}

// W81: a run ends if nothing listens, and says so. The next one knows, and goes on.
func TestNothingListens(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc/net/tcp")
	}
	state, message := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "message")
	run := func(ctx context.Context) error {
		command := newCommand()
		command.SetErr(io.Discard)
		command.SetArgs([]string{"activity", "watch", "--state", state, "--termination-log", message, "--ports", "1", "--use-lasts", "1ms"})
		return command.ExecuteContext(ctx)
	}
	if err := run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(message); activity.ParseWord(string(text)).State != activity.Silent || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if err := errors.Join(os.Remove(message), checkState(state, time.Now())); err != nil {
		t.Error(err)
	}
	before, err := os.Stat(state)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	for after := before; !after.ModTime().After(before.ModTime()); {
		if after, err = os.Stat(state); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(message); !errors.Is(err, os.ErrNotExist) {
		t.Error("it said so again")
	}
	if err := checkState(state, time.Now()); err != nil {
		t.Error(err)
	}
}

func TestActivityFlags(t *testing.T) {
	for flags, want := range map[string]string{
		"--ports 0":        "--ports: must be from 1 to 65535, not 0",
		"--ports 65536":    "--ports: must be from 1 to 65535, not 65536",
		"--cpu-percent -1": "--cpu-percent: must be 0 or more, not -1",
		"--use-lasts 0s":   "--use-lasts: must be above 0s, not 0s",
		"--probes -1":      "--probes: must be 0 or more, not -1",
		"--ports 80":       "--state: open",
	} {
		command := newCommand()
		command.SetErr(io.Discard)
		command.SetArgs(append([]string{"activity", "watch", "--state", t.TempDir()}, strings.Fields(flags)...))
		if err := command.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", flags, err)
		}
	}
}
