package manager

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/activity"
)

// W104: a run ends to say that nobody uses the Workspace. The next one is not ready, and says nothing.
func TestIdleIsSaid(t *testing.T) {
	listener := listens(t)
	port := strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	state, message := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "message")
	run := func(ctx context.Context) error {
		command := newCommand()
		command.SetErr(io.Discard)
		command.SetArgs([]string{"activity", "watch", "--state", state, "--termination-log", message, "--ports", port, "--use-lasts", "1ms"})
		return command.ExecuteContext(ctx)
	}
	if err := run(t.Context()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(message)
	if word := activity.ParseWord(string(text)); word.State != activity.Idle || word.Ever || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := errors.Join(os.Remove(message), run(ctx)); err != nil {
		t.Error(err)
	}
	if err := checkState(state, time.Now()); err == nil || !strings.Contains(err.Error(), "idle") {
		t.Errorf("it is ready: %v", err)
	}
	if _, err := os.Stat(message); !errors.Is(err, os.ErrNotExist) {
		t.Error("it said so again")
	}
}

// W106: real short connections, whoever ends them, are seen after their end.
func TestRealShortConnections(t *testing.T) {
	for name, serverEnds := range map[string]bool{"the server ends them": true, "the client ends them": false} {
		listener := listens(t)
		options := watchOptions{
			ports: []uint{uint(listener.Addr().(*net.TCPAddr).Port)},
			watch: activity.Watch{Lasts: time.Minute, IgnoreShorter: 10 * time.Second, First: true},
		}
		if err := options.complete(); err != nil {
			t.Fatal(err)
		}
		for at := time.Duration(0); at < time.Minute; at += 20 * time.Second {
			options.look(at, io.Discard)
		}
		if got, _ := options.look(time.Minute, io.Discard); got != activity.Idle {
			t.Errorf("%s: before, it is %s", name, got)
		}
		for range 12 {
			client, err := net.Dial("tcp4", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			server, err := listener.Accept()
			if err != nil {
				t.Fatal(err)
			}
			first, second := server, client
			if !serverEnds {
				first, second = client, server
			}
			first.Close()
			_, _ = second.Read(make([]byte, 1)) // the end
			second.Close()
		}
		if got, _ := options.look(61*time.Second, io.Discard); got != activity.Used {
			t.Errorf("%s: it is %s", name, got)
		}
	}
}
