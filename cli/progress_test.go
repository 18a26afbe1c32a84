package cli

import (
	"bytes"
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"
)

// said hands over each write, so that a test knows when it has happened.
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
		stop := sayAfter(t.Context(), clock, out, what)
		clock.Step(progressAfter)
		if got := <-out; got != what {
			t.Errorf("it says %q", got)
		}
		go stop()
		if got := <-out; got != "\r\x1b[K" {
			t.Errorf("it is erased by %q", got)
		}
	})
	t.Run("short work", func(t *testing.T) {
		clock, out := clocktesting.NewFakeClock(start), &bytes.Buffer{}
		stop := sayAfter(t.Context(), clock, out, what)
		clock.Step(progressAfter - time.Nanosecond)
		stop()
		stop() // and a second time, as a deferred call does
		if out.Len() > 0 {
			t.Errorf("it says %q", out)
		}
		if clock.HasWaiters() {
			t.Error("the timer goes on")
		}
	})
	t.Run("no terminal", func(t *testing.T) {
		progress(t.Context(), &bytes.Buffer{}, what)()
	})
}
