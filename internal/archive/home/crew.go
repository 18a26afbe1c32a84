package home

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

const (
	// small is how long a file may be, in bytes, to be in memory whole.
	small = 128 << 10
	// hands is how many small files are made at a time. Most of the time of each is waiting: for another
	// processor, or for the server of a network volume.
	hands = 8
)

// crew makes small files beside one another: 1 MiB of them is in memory at most.
type crew struct {
	group   errgroup.Group
	failed  atomic.Bool
	buffers sync.Pool
}

func newCrew() *crew {
	c := &crew{buffers: sync.Pool{New: func() any { buffer := make([]byte, small); return &buffer }}}
	c.group.SetLimit(hands)
	return c
}

// buffer is for a file of a size. It goes back to buffers.
func (c *crew) buffer(size int64) *[]byte {
	buffer := c.buffers.Get().(*[]byte)
	*buffer = (*buffer)[:size]
	return buffer
}

// do has make called soon, and waits until there is a hand free for it. Once one has failed there
// are no more: its error is given back, with its name.
func (c *crew) do(name string, make func() error) error {
	c.group.Go(func() error {
		if err := make(); err != nil {
			c.failed.Store(true)
			return fmt.Errorf("%q: %w", name, err)
		}
		return nil
	})
	if c.failed.Load() {
		return c.wait()
	}
	return nil
}

// wait waits until all is made, and gives back the first error.
func (c *crew) wait() error { return c.group.Wait() }

// place is an open folder. It is closed when the last who holds it has let go.
type place struct {
	root  *os.Root
	users atomic.Int32
}

func newPlace(root *os.Root) *place {
	p := &place{root: root}
	return p.hold()
}

func (p *place) hold() *place {
	p.users.Add(1)
	return p
}

func (p *place) release() {
	if p.users.Add(-1) == 0 {
		_ = p.root.Close()
	}
}

// leftOut is what could not be kept: the first few in the order of the stream, whoever of the crew
// comes first, and how many there are.
type leftOut struct {
	lock  sync.Mutex
	first []missing
	count int64
}

type missing struct{ name, what string }

func (l *leftOut) out(name, what string) {
	l.lock.Lock()
	defer l.lock.Unlock()
	at, _ := slices.BinarySearchFunc(l.first, name, func(m missing, name string) int {
		if compareNames(m.name, name) > 0 {
			return 1
		}
		return -1 // of the same name: after it
	})
	l.first = slices.Insert(l.first, at, missing{name, what})
	l.first = l.first[:min(len(l.first), namedOut)]
	l.count++
}

// told is as a Summary has it.
func (l *leftOut) told() (names []string, count int64) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, m := range l.first {
		names = append(names, fmt.Sprintf("%q: %s", m.name, m.what))
	}
	return names, l.count
}
