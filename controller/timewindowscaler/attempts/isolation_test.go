package attempts

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// arena is a queue with workers in front of some namespaces, each of which answers in its own time.
type arena struct {
	*Attempts
	answers map[string]time.Duration
	// answer waits for the API server's answer to a write in a namespace.
	answer  func(ctx context.Context, namespace string) error
	queue   chan types.NamespacedName
	elapsed func() time.Duration

	mu   sync.Mutex
	done map[types.NamespacedName]time.Duration
	// running is how many requests each namespace has under way, and most how many it had at most.
	running, most map[string]int
	passes        int
}

// newArena starts the workers. It runs in a bubble of synctest, until ctx ends.
func newArena(ctx context.Context, workers int, answers map[string]time.Duration) *arena {
	start := time.Now()
	elapsed := func() time.Duration { return time.Since(start) }
	a := &arena{
		Attempts: New(workers, elapsed), answers: answers, elapsed: elapsed, queue: make(chan types.NamespacedName, 100_000),
		done: map[types.NamespacedName]time.Duration{}, running: map[string]int{}, most: map[string]int{},
	}
	a.answer = func(ctx context.Context, namespace string) error {
		select {
		case <-ctx.Done():
		case <-time.After(a.answers[namespace]):
		}
		return ctx.Err()
	}
	a.Probe = func(context.Context) error { return nil }
	a.Wake = func(keys ...types.NamespacedName) {
		for _, key := range keys {
			a.queue <- key
		}
	}
	a.Ticks = time.NewTicker(ProbeInterval).C
	go func() { _ = a.Start(ctx) }()
	for range workers {
		go a.work(ctx)
	}
	return a
}

func (a *arena) add(namespace string, scalers int) {
	for i := range scalers {
		a.queue <- types.NamespacedName{Namespace: namespace, Name: fmt.Sprint(i)}
	}
}

func (a *arena) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case key := <-a.queue:
			pass, end := context.WithTimeout(ctx, passLength)
			err := a.Do(pass, ID{key, WriteTarget}, Lane{key.Namespace, deployments}, Cause{}, func(ctx context.Context) error { return a.write(ctx, key.Namespace) })
			end()
			a.mu.Lock()
			a.passes++
			if err == nil {
				a.done[key] = a.elapsed()
			}
			a.mu.Unlock()
		}
	}
}

func (a *arena) write(ctx context.Context, namespace string) error {
	a.count(namespace, 1)
	defer a.count(namespace, -1)
	return a.answer(ctx, namespace)
}

func (a *arena) count(namespace string, delta int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running[namespace] += delta
	a.most[namespace] = max(a.most[namespace], a.running[namespace])
}

// settled returns when the last of the namespace's scalers was done, and whether all are.
func (a *arena) settled(namespace string, n int) (last time.Duration, all bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, at := range a.done {
		if key.Namespace == namespace {
			n--
			last = max(last, at)
		}
	}
	return last, n == 0
}

// B13: beside namespaces whose webhooks hang, flips at the same instant and later take about as long as they would alone. If
// all workers are many enough namespaces' first requests, the others wait for the first answers.
func TestHangingNamespacesDelayNoOthers(t *testing.T) {
	const workers, flips = 64, 100
	for _, hanging := range []int{0, 1, 10, 100} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			answers := map[string]time.Duration{"known": 5 * time.Millisecond, "same": 5 * time.Millisecond, "later": 5 * time.Millisecond}
			for i := range hanging {
				answers[fmt.Sprintf("hanging-%d", i)] = 30 * time.Second
			}
			a := newArena(ctx, workers, answers)
			a.add("known", 1) // it has answered before
			time.Sleep(time.Second)
			for i := range hanging {
				a.add(fmt.Sprintf("hanging-%d", i), 60)
			}
			a.add("known", flips)
			a.add("same", flips)
			time.Sleep(10 * time.Second)
			a.add("later", flips)
			time.Sleep(time.Second)
			for i := range hanging {
				if most := a.most[fmt.Sprintf("hanging-%d", i)]; most > fewest+1 { // and one copy
					t.Errorf("%d hanging: one has %d requests at once", hanging, most)
				}
			}
			for namespace, began := range map[string]time.Duration{"known": time.Second, "same": time.Second, "later": 11 * time.Second} {
				if hanging > workers/2/fewest && namespace != "known" {
					continue
				}
				if at, all := a.settled(namespace, flips); !all || at-began > 200*time.Millisecond {
					t.Errorf("%d hanging: %s took %s, all done: %v", hanging, namespace, at-began, all)
				}
			}
		})
	}
}

// A single namespace with 1,000 flips has half of the workers after a few answers, and takes hardly longer than with
// them from the start.
func TestOneNamespaceHasNearlyFullThroughput(t *testing.T) {
	const workers, flips, answer = 64, 1000, 5 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		a := newArena(ctx, workers, map[string]time.Duration{"shop": answer})
		a.add("shop", flips)
		time.Sleep(time.Minute)
		at, all := a.settled("shop", flips)
		if least := flips / (workers / 2) * answer; !all || at > least*3/2 {
			t.Errorf("%s, all done: %v; half of the workers would take %s", at, all, least)
		}
		t.Logf("%d flips took %s and %d passes", flips, at, a.passes)
	})
}
