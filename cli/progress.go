package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/utils/clock"
)

// progressAfter is how long people wait without a word: most work is done by then.
const progressAfter = time.Second

// progress says on w what a command is doing, such as "Reading the cluster ...", if that takes more than
// a second and w is a terminal. stop erases it again; call it before anything else is written.
func progress(ctx context.Context, w io.Writer, what string) (stop func()) {
	if !isTerminal(w) {
		return func() {}
	}
	return sayAfter(ctx, clock.RealClock{}, w, what)
}

// sayAfter is progress on something that is a terminal.
func sayAfter(ctx context.Context, timers clock.Clock, w io.Writer, what string) (stop func()) {
	const erase = "\r\x1b[K"
	ctx, cancel := context.WithCancel(ctx)
	timer, done := timers.NewTimer(progressAfter), make(chan struct{})
	go func() {
		defer close(done)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return
		case <-timer.C():
		}
		fmt.Fprint(w, what)
		<-ctx.Done()
		fmt.Fprint(w, erase)
	}()
	return func() {
		cancel()
		<-done
	}
}
