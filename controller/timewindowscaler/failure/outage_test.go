package failure

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
)

// fixture is an Outage with manual ticks and an API server that is there or away.
type fixture struct {
	*testing.T
	Outage
	away   bool
	probes int
	woken  []string
	tick   chan time.Time
}

func newFixture(t *testing.T) *fixture {
	v := &fixture{T: t, tick: make(chan time.Time)}
	v.Outage = Outage{
		Ticks: v.tick,
		Probe: func(context.Context) error {
			v.probes++
			if v.away {
				return errors.New("connection refused")
			}
			return nil
		},
		Wake: func(keys ...types.NamespacedName) {
			for _, key := range keys {
				v.woken = append(v.woken, key.Name)
			}
		},
	}
	return v
}

// ticks lets n seconds pass and returns the objects that were woken.
func (v *fixture) seconds(n int) []string {
	v.Helper()
	v.woken = nil
	ctx, cancel := context.WithCancel(v.Context())
	done := make(chan error)
	go func() { done <- v.Start(ctx) }()
	for range n {
		v.tick <- time.Time{}
	}
	cancel()
	if err := <-done; err != nil {
		v.Fatal(err)
	}
	slices.Sort(v.woken)
	return v.woken
}

func (v *fixture) expect(what string, got []string, want ...string) {
	v.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		v.Errorf("%s: woken (-want +got)\n%s", what, diff)
	}
}

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

func TestNoProbeWithoutNeed(t *testing.T) {
	v := newFixture(t)
	v.seconds(3)
	v.Failed(key("web"), true)
	v.Over(key("web"))
	v.seconds(3)
	if v.probes > 0 {
		t.Errorf("%d probes", v.probes)
	}
}

// B10: what failed because the API server was away is woken once, when it is back.
func TestWokenOnceWhenTheAPIServerIsBack(t *testing.T) {
	v := newFixture(t)
	v.Failed(key("web"), true)
	v.Failed(key("api"), true)
	v.away = true
	v.expect("away", v.seconds(3))
	if v.probes != 3 {
		t.Errorf("%d probes in 3 s", v.probes)
	}
	v.away = false
	v.expect("back", v.seconds(1), "api", "web")
	v.expect("later", v.seconds(3))
	if v.probes != 4 {
		t.Errorf("%d probes, want none after the return", v.probes)
	}
}

// An Outage too short for any probe to see still wakes those that met it.
func TestAnOutageBetweenProbes(t *testing.T) {
	v := newFixture(t)
	v.Failed(key("web"), true)
	v.expect("back before the first probe", v.seconds(1), "web")
}

// A failure of one object keeps its back-off while the API server is there.
func TestAnIsolatedFailureIsNotWoken(t *testing.T) {
	v := newFixture(t)
	v.Failed(key("forbidden"), false)
	v.Failed(key("web"), true)
	v.expect("there", v.seconds(3), "web")
	v.Failed(key("forbidden"), false)
	v.expect("again", v.seconds(3))
}

// Nor does it cause probes.
func TestAnIsolatedFailureIsProbedOnce(t *testing.T) {
	v := newFixture(t)
	v.Failed(key("forbidden"), false)
	v.seconds(5)
	if v.probes != 1 {
		t.Errorf("%d probes", v.probes)
	}
}

// But if the API server turns out to be away, that may be the cause of the failure: it is woken.
func TestAnIsolatedFailureDuringAnOutage(t *testing.T) {
	v := newFixture(t)
	v.Failed(key("forbidden"), false)
	v.away = true
	v.expect("away", v.seconds(1))
	v.away = false
	v.expect("back", v.seconds(1), "forbidden")
}

// Being unreachable is not forgotten over a later failure of another kind.
func TestUnreachableStays(t *testing.T) {
	v := newFixture(t)
	v.Failed(key("web"), true)
	v.Failed(key("web"), false)
	v.expect("back", v.seconds(1), "web")
}

// A probe that hangs is cancelled, so that Start sees the end of its context and the next tick.
func TestAProbeHasADeadline(t *testing.T) {
	v := newFixture(t)
	bounded := false
	v.Probe = func(ctx context.Context) error {
		_, bounded = ctx.Deadline()
		return nil
	}
	v.Failed(key("web"), true)
	v.seconds(1)
	if !bounded {
		t.Error("a probe may hang for ever")
	}
}
