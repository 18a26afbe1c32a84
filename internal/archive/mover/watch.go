package mover

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/home"
)

// Watch calls report at intervals with the job's progress, if it has changed. It does not affect the job. stop ends the
// context of report and waits for it; it must be called when the job has ended.
func (j *Job) Watch(ctx context.Context, interval time.Duration, report func(context.Context, archive.Progress)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{}
	j.Report = w.report
	var group sync.WaitGroup
	group.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if progress, changed := w.progress(); changed {
					report(ctx, progress)
				}
			}
		}
	})
	return func() { cancel(); group.Wait() }
}

// watch keeps the last report.
type watch struct {
	lock sync.Mutex
	step archive.Step
	done home.Progress
	of   func() home.Progress
	last archive.Progress // returned by progress
}

func (w *watch) report(step archive.Step, done home.Progress, of func() home.Progress) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.step, w.done, w.of = step, done, of
}

// progress returns the last report, and whether it has changed since the last call.
func (w *watch) progress() (archive.Progress, bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.of == nil {
		return archive.Progress{}, false // not started yet
	}
	of := w.of()
	now := archive.Progress{Step: w.step, Entries: w.done.Entries, Bytes: w.done.Bytes, OfEntries: of.Entries, OfBytes: of.Bytes}
	changed := now != w.last
	w.last = now
	return now, changed
}

// measured returns the total to pack, zero until it is known. Counting starts with the first call: most homes are packed
// before. stop ends the counting, and must be called before folder is closed.
func measured(ctx context.Context, folder *os.Root) (of func() home.Progress, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	var total atomic.Pointer[home.Progress]
	start := sync.OnceFunc(func() {
		group.Go(func() {
			if found, err := home.Measure(ctx, folder); err == nil { // otherwise Pack reports the error
				total.Store(&found)
			}
		})
	})
	of = func() home.Progress {
		if start(); total.Load() == nil {
			return home.Progress{}
		}
		return *total.Load()
	}
	return of, func() { cancel(); start(); group.Wait() }
}
