package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

func named(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

// Whatever passes ask for: no limit is exceeded, nobody waits for a place that is free, and nobody is forgotten.
func TestPlaces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limits := Limits{Store: rapid.IntRange(1, 3).Draw(rt, "store"), Namespace: rapid.IntRange(1, 4).Draw(rt, "namespace"), All: rapid.IntRange(1, 6).Draw(rt, "all")}
		woken := map[types.NamespacedName]int{}
		p := newPlaces(limits, func(keys ...types.NamespacedName) {
			for _, key := range keys {
				woken[key]++
			}
		})
		uses, waits := map[types.NamespacedName]types.NamespacedName{}, map[types.NamespacedName]types.NamespacedName{}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			of := named(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "namespace"), rapid.SampledFrom([]string{"1", "2", "3", "4", "5"}).Draw(rt, "name"))
			if _, held := uses[of]; held {
				delete(uses, of)
				p.leave(of)
			} else {
				secret, waited := waits[of]
				if !waited {
					secret = named(of.Namespace, rapid.SampledFrom([]string{"x", "y"}).Draw(rt, "secret"))
				}
				if got := p.take(of, secret); got && waited && woken[of] == 0 {
					rt.Fatalf("%v took a place before its turn", of)
				} else if got {
					delete(waits, of)
					delete(woken, of)
					uses[of] = secret
				} else if woken[of] > 0 {
					rt.Fatalf("%v was woken for nothing", of)
				} else {
					waits[of] = secret
				}
			}
			check(rt, &p, limits, uses, waits, woken)
		}
		for range len(waits) * len(waits) { // all that hold a place leave, until nobody waits
			for of := range uses {
				delete(uses, of)
				p.leave(of)
			}
			for of := range woken {
				if !p.take(of, waits[of]) {
					rt.Fatalf("%v was woken for nothing", of)
				}
				uses[of] = waits[of]
				delete(waits, of)
				delete(woken, of)
			}
		}
		for of := range uses {
			p.leave(of)
		}
		if len(waits)+len(p.held)+len(p.granted)+len(p.stores)+len(p.namespaces)+len(p.waiting)+len(p.order) > 0 {
			rt.Fatalf("left over: %v, %+v", waits, &p)
		}
	})
}

func check(rt *rapid.T, p *places, limits Limits, uses, waits map[types.NamespacedName]types.NamespacedName, woken map[types.NamespacedName]int) {
	stores, namespaces, all := map[types.NamespacedName]int{}, map[string]int{}, 0
	count := func(secret types.NamespacedName) {
		stores[secret]++
		namespaces[secret.Namespace]++
		all++
		if stores[secret] > limits.Store || namespaces[secret.Namespace] > limits.Namespace || all > limits.All {
			rt.Fatalf("beyond %+v: %v and %v", limits, uses, woken)
		}
	}
	for _, secret := range uses {
		count(secret)
	}
	for of := range woken {
		count(waits[of])
	}
	for of, secret := range waits {
		if woken[of] == 0 && all < limits.All && namespaces[of.Namespace] < limits.Namespace && stores[secret] < limits.Store {
			rt.Fatalf("%v waits for a place of %v that is free: %v, %v", of, secret, uses, woken)
		}
		if woken[of] > 1 {
			rt.Fatalf("%v was woken twice", of)
		}
	}
}

// However many Workspaces of a namespace wait, one of another namespace is next.
func TestNamespacesTakeTurns(t *testing.T) {
	var woken []types.NamespacedName
	p := newPlaces(Limits{Store: 1, Namespace: 1, All: 1}, func(keys ...types.NamespacedName) { woken = append(woken, keys...) })
	for i := range 20 {
		of := named("evil", fmt.Sprint(i))
		if got := p.take(of, named("evil", fmt.Sprint("store-", i))); got != (i == 0) {
			t.Fatalf("%v: %t", of, got)
		}
	}
	good := named("good", "home")
	p.take(good, named("good", "store"))
	p.leave(named("evil", "0"))
	p.leave(woken[0])
	if len(woken) != 2 || woken[1] != good {
		t.Errorf("the turns were %v", woken)
	}
}

// A pass that calls a store leaves its worker to others, and gets one again before it goes on.
func TestACallHoldsNoWorker(t *testing.T) {
	turns := New(1, Limits{Store: 1, Namespace: 1, All: 1}, func(...types.NamespacedName) {})
	secret := named("evil", "store")
	first, endFirst, err := turns.Begin(t.Context(), named("evil", "first"))
	if err != nil {
		t.Fatal(err)
	}
	hangs, release, over := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		err := Call(first, secret, func() {
			close(hangs)
			<-release
		})
		endFirst()
		over <- err
	}()
	<-hangs
	second, endSecond, err := turns.Begin(t.Context(), named("evil", "second"))
	if err != nil {
		t.Fatal(err)
	}
	if err := Call(second, secret, func() { t.Error("beyond the limit") }); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
	close(release)
	select {
	case <-over:
		t.Error("two passes work at the same time")
	default:
	}
	endSecond()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

// A pass that is told to stop while it waits for a worker ends without one.
func TestWaitingForAWorkerEnds(t *testing.T) {
	turns := New(1, DefaultLimits, func(...types.NamespacedName) {})
	_, end, err := turns.Begin(t.Context(), named("a", "works"))
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := turns.Begin(ctx, named("b", "waits")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Passes of one namespace that hang leave workers to others, and all of them get one in the end.
func TestANamespaceHasHalfOfTheWorkers(t *testing.T) {
	var woken []types.NamespacedName
	turns := New(4, DefaultLimits, func(keys ...types.NamespacedName) { woken = append(woken, keys...) })
	var hanging []func()
	for i := range 6 {
		_, end, err := turns.Begin(t.Context(), named("slow", fmt.Sprint(i)))
		if (err == nil) != (i < 2) || err != nil && !errors.Is(err, ErrBusy) {
			t.Fatalf("pass %d: %v", i, err)
		}
		if err == nil {
			hanging = append(hanging, end)
		}
	}
	for i := range 2 {
		_, end, err := turns.Begin(t.Context(), named("quick", fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		defer end()
	}
	for len(hanging) > 0 {
		hanging[0]()
		hanging = hanging[1:]
		for _, of := range woken {
			_, end, err := turns.Begin(t.Context(), of)
			if err != nil {
				t.Fatalf("%v was woken for nothing: %v", of, err)
			}
			hanging = append(hanging, end)
		}
		woken = slices.Delete(woken, 0, len(woken))
	}
	if len(turns.shares.waiting) > 0 || turns.shares.passes["slow"] > 0 {
		t.Errorf("left over: %+v", &turns.shares)
	}
}
