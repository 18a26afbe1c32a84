package home

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

const (
	// small is the maximum length of a file that is kept in memory, in bytes.
	small = 128 << 10
	// concurrency is how many small files are created at a time. Each mostly waits: for another processor, or for the
	// server of a network volume.
	concurrency = 8
)

// workers create small files concurrently: at most 1 MiB of them is in memory.
type workers struct {
	group   errgroup.Group
	failed  atomic.Bool
	buffers sync.Pool
}

func newWorkers() *workers {
	w := &workers{buffers: sync.Pool{New: func() any { buffer := make([]byte, small); return &buffer }}}
	w.group.SetLimit(concurrency)
	return w
}

// buffer returns a buffer for a file of a size; put it back to buffers.
func (w *workers) buffer(size int64) *[]byte {
	buffer := w.buffers.Get().(*[]byte)
	*buffer = (*buffer)[:size]
	return buffer
}

// do starts create, after waiting for a free worker. After a failure nothing more is started: do returns the error.
func (w *workers) do(name string, create func() error) error {
	w.group.Go(func() error {
		if err := create(); err != nil {
			w.failed.Store(true)
			return fmt.Errorf("%q: %w", name, err)
		}
		return nil
	})
	if w.failed.Load() {
		return w.wait()
	}
	return nil
}

// wait waits for all workers and returns the first error.
func (w *workers) wait() error { return w.group.Wait() }

// sharedFolder is an open folder. It is closed after the last release.
type sharedFolder struct {
	root  *os.Root
	users atomic.Int32
}

func share(root *os.Root) *sharedFolder {
	p := &sharedFolder{root: root}
	return p.hold()
}

func (p *sharedFolder) hold() *sharedFolder {
	p.users.Add(1)
	return p
}

func (p *sharedFolder) release() {
	if p.users.Add(-1) == 0 {
		_ = p.root.Close()
	}
}
