package console

import (
	"bytes"
	"os"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

func TestColours(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this machine has no terminals:", err)
	}
	defer terminal.Close()
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, test := range map[string]struct {
		term, noColor string
		want          bool
	}{
		"a terminal":         {"xterm", "", true},
		"an unknown one":     {"", "", true},
		"a dumb one":         {"dumb", "", false},
		"not wanted":         {"xterm", "1", false},
		"not wanted, by any": {"xterm", "0", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", test.term)
			t.Setenv("NO_COLOR", test.noColor)
			if got := Colours(terminal); got != test.want {
				t.Errorf("colours: %v", got)
			}
			if Colours(file) || Colours(&bytes.Buffer{}) {
				t.Error("a file has colours")
			}
		})
	}
}

// said passes on each write, so that a test knows when it has happened.
type said chan string

func (s said) Write(text []byte) (int, error) {
	s <- string(text)
	return len(text), nil
}

func TestProgress(t *testing.T) {
	const what = "Reading the cluster ..."
	start := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	t.Run("long work", func(t *testing.T) {
		clock, out := clocktesting.NewFakeClock(start), make(said)
		stop := progressOn(t.Context(), clock, out, what)
		clock.Step(progressDelay)
		if got := <-out; got != what {
			t.Errorf("it prints %q", got)
		}
		go stop()
		if got := <-out; got != "\r\x1b[K" {
			t.Errorf("it is erased by %q", got)
		}
	})
	t.Run("short work", func(t *testing.T) {
		clock, out := clocktesting.NewFakeClock(start), &bytes.Buffer{}
		stop := progressOn(t.Context(), clock, out, what)
		clock.Step(progressDelay - time.Nanosecond)
		stop()
		stop() // and a second time, as a deferred call does
		if out.Len() > 0 {
			t.Errorf("it prints %q", out)
		}
		if clock.HasWaiters() {
			t.Error("the timer was not stopped")
		}
	})
	t.Run("no terminal", func(t *testing.T) {
		Progress(t.Context(), &bytes.Buffer{}, what)()
	})
}
