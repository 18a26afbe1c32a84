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

// Watch has tell called every so often while the job runs, with how far it is, if that is new. Whatever tell does,
// the job goes on. stop ends the context of tell and waits for it; it must be called when the job has ended.
func (j *Job) Watch(ctx context.Context, every time.Duration, tell func(context.Context, archive.Progress)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{}
	j.Report = w.report
	var group sync.WaitGroup
	group.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if progress, news := w.news(); news {
					tell(ctx, progress)
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
	told archive.Progress
}

func (w *watch) report(step archive.Step, done home.Progress, of func() home.Progress) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.step, w.done, w.of = step, done, of
}

// news returns the last report; false if it is known already.
func (w *watch) news() (archive.Progress, bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.of == nil {
		return archive.Progress{}, false // it has not begun
	}
	of := w.of()
	now := archive.Progress{Step: w.step, Entries: w.done.Entries, Bytes: w.done.Bytes, OfEntries: of.Entries, OfBytes: of.Bytes}
	news := now != w.told
	w.told = now
	return now, news
}

// measured returns how much there is to pack, nothing as long as that is not known. It is counted when somebody asks first:
// most homes are packed before. stop ends the counting, and must be called before folder is closed.
func measured(ctx context.Context, folder *os.Root) (of func() home.Progress, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	var total atomic.Pointer[home.Progress]
	begin := sync.OnceFunc(func() {
		group.Go(func() {
			if found, err := home.Measure(ctx, folder); err == nil { // else Pack says what is wrong
				total.Store(&found)
			}
		})
	})
	of = func() home.Progress {
		if begin(); total.Load() == nil {
			return home.Progress{}
		}
		return *total.Load()
	}
	return of, func() { cancel(); begin(); group.Wait() }
}
