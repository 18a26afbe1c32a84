// Package turns lets passes call object stores without holding a worker. A store belongs to a tenant, and may not answer: so a
// pass gives its worker away while it calls one, and the number of calls is limited for each store, each namespace and in
// all. A pass that finds no place ends at once; its Workspace is woken when it has one. Namespaces take turns.
package turns

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
)

// ErrBusy means that there is no place for another call now, or no worker for another pass of the namespace. The Workspace is woken when
// there is.
var ErrBusy = errors.New("waiting for a turn")

// Limits bound the calls in progress, each at least 1.
type Limits struct{ Store, Namespace, All int }

// DefaultLimits leave each namespace a small share of all calls (W59).
var DefaultLimits = Limits{Store: 3, Namespace: 4, All: 16}

// Turns hands out workers and places for calls. It is safe for concurrent use.
type Turns struct {
	workers chan struct{}
	shares  shares
	places  places
}

// New returns turns for passes of which as many as workers work at the same time.
func New(workers int, limits Limits, wake func(...types.NamespacedName)) *Turns {
	return &Turns{workers: make(chan struct{}, workers), shares: newShares(workers, wake), places: newPlaces(limits, wake)}
}

// Passes is how many passes can be in progress: those that work, and those that wait for a store.
func (t *Turns) Passes() int { return cap(t.workers) + t.places.limits.All }

// pass is a pass in progress.
type pass struct {
	turns *Turns
	of    types.NamespacedName
	// works: it has a worker. asked: it needed a place. placed: it has one until its end.
	works, asked, placed bool
}

type passKey struct{}

// Begin waits for a worker. The pass runs under the context that is returned, and ends with a call of end. The error is ErrBusy if the
// namespace has its share of the workers.
func (t *Turns) Begin(ctx context.Context, of types.NamespacedName) (_ context.Context, end func(), err error) {
	if !t.shares.enter(of) {
		return ctx, nil, ErrBusy
	}
	p := &pass{turns: t, of: of}
	if err := p.work(ctx); err != nil {
		return ctx, nil, err
	}
	return context.WithValue(ctx, passKey{}, p), p.end, nil
}

// Call calls the store that a Secret describes. The error is ErrBusy, without a call, or that of a context that ended. Outside of a
// pass there are no limits.
func Call(ctx context.Context, secret types.NamespacedName, call func()) error {
	p, ok := ctx.Value(passKey{}).(*pass)
	if !ok {
		call()
		return nil
	}
	p.asked = true
	if !p.placed {
		if p.placed = p.turns.places.take(p.of, secret); !p.placed {
			return ErrBusy
		}
	}
	p.rest()
	call()
	p.turns.shares.enterAgain(p.of.Namespace)
	return p.work(ctx)
}

func (p *pass) work(ctx context.Context) error {
	select {
	case p.turns.workers <- struct{}{}:
		p.works = true
		return nil
	case <-ctx.Done():
		p.turns.shares.leave(p.of.Namespace)
		return ctx.Err()
	}
}

func (p *pass) rest() {
	p.works = false
	<-p.turns.workers
	p.turns.shares.leave(p.of.Namespace)
}

// end gives back what the pass has. A place that was granted since it asked is for the next pass.
func (p *pass) end() {
	if p.works {
		p.rest()
	}
	if p.placed || !p.asked {
		p.turns.places.leave(p.of)
	}
}
