package attempts

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

var scalers = Lane{"shop", deployments}

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

// reporters are a fixture that notes who is called, and how.
type reporters struct {
	*fixture
	first, last []types.NamespacedName
}

func newReporters(t *testing.T, workers int) *reporters {
	v := &reporters{fixture: newFixture(t, workers)}
	v.Wake = func(keys ...types.NamespacedName) { v.first = append(v.first, keys...) }
	v.WakeLast = func(keys ...types.NamespacedName) { v.last = append(v.last, keys...) }
	return v
}

// begins begins to write a target, and returns how it ends.
func (v *reporters) begins(name string) (end func()) {
	v.Helper()
	id := ID{named(name), WriteTarget}
	r, err := v.begin(id, scalers, Cause{}, func(error) {})
	if err != nil {
		return nil
	}
	return func() { _ = v.end(v.Context(), id, r, Cause{}, nil) }
}

func (v *reporters) expectCalls(what, last, first string) {
	v.Helper()
	list := func(keys []types.NamespacedName) string {
		var names []string
		for _, key := range keys {
			names = append(names, key.Name)
		}
		return strings.Join(names, " ")
	}
	if list(v.last) != last || list(v.first) != first {
		v.Errorf("%s: called %q, and %q first; want %q and %q", what, list(v.last), list(v.first), last, first)
	}
	v.first, v.last = nil, nil
}

func (v *reporters) expectTurn(what string, want bool, name string, wrote bool) {
	v.Helper()
	if got := v.Turn(named(name), wrote); got != want {
		v.Errorf("%s: %s has the turn: %v, want %v", what, name, got, want)
	}
}

// B18: nobody reports while a target is written, waits for its lane, or is being decided about.
func TestTargetsGoFirst(t *testing.T) {
	v := newReporters(t, 16)
	end := v.begins("a")
	v.expectTurn("a write is under way", false, "web", false)
	v.expectCalls("a write is under way", "", "")
	also := v.begins("b")
	if waits := v.begins("c"); waits != nil {
		t.Fatal("the lane has more places than two")
	}
	end()
	also()
	v.expectCalls("one waits for the lane", "", "c")
	v.Decide(named("d"))
	v.begins("c")()
	v.expectCalls("another pass decides", "", "")
	v.Decided(named("d"))
	v.expectCalls("all targets are written", "web", "")
	v.expectTurn("called", true, "web", false)
	v.Reported(named("web"))
}

// Whoever is called finds that a target is due again, or was its own: it waits, and is called again before later ones.
func TestATurnThatIsLost(t *testing.T) {
	v := newReporters(t, 8)
	for _, name := range []string{"web", "later"} {
		v.expectTurn("the first pass", false, name, false)
	}
	v.expectCalls("one at a time", "web", "")
	end := v.begins("a")
	v.expectTurn("a write has begun", false, "web", false)
	v.expectCalls("a write has begun", "", "")
	end()
	v.expectCalls("it has ended", "web", "")
	v.expectTurn("it wrote its target itself", false, "web", true)
	v.expectCalls("again", "web", "")
	v.expectTurn("at last", true, "web", false)
	v.Reported(named("web"))
	v.expectCalls("then the next", "later", "")
	v.expectTurn("another wake-up of one that is done", false, "web", false)
}

// B18: after a minute a status waits no longer, however many targets are due, and whatever its pass did.
func TestNobodyWaitsForEver(t *testing.T) {
	v := newReporters(t, 8)
	v.begins("a") // never answered: but see hangs
	v.expectTurn("the first pass", false, "web", false)
	v.now += longestTurn - time.Millisecond
	v.expectTurn("not yet", false, "web", false)
	v.now += time.Millisecond
	v.Tick(t.Context())
	v.expectCalls("after a minute", "", "web")
	v.expectTurn("after a minute", true, "web", true)
	v.Reported(named("web"))

	v = newReporters(t, 8)
	v.begins("a")
	v.expectTurn("the first pass", false, "web", false)
	v.now += longestTurn
	v.expectTurn("woken by something else", true, "web", true)
}

// B13: a lane that hangs keeps nobody from reporting.
func TestALaneThatHangsDelaysNoReport(t *testing.T) {
	v := newReporters(t, 8)
	v.begins("a")
	v.expectTurn("not known to hang yet", false, "web", false)
	v.now += leastSlow
	v.Tick(t.Context())
	v.expectCalls("it hangs", "web", "")
	v.expectTurn("it hangs", true, "web", false)
}

// B18: a lane that hung counts again, with all that waits for it, as soon as a copy of one of its requests is answered.
func TestALaneThatIsAnsweredAgainGoesFirst(t *testing.T) {
	v := newReporters(t, 8)
	first, _ := v.begin(write("shop", "a"), scalers, Cause{}, func(error) {})
	v.now += time.Millisecond
	second, _ := v.begin(write("shop", "b"), scalers, Cause{}, func(error) {})
	copied := ""
	first.again, second.again = func() { copied += "a" }, func() { copied += "b" }
	v.begins("c")
	v.now += copyAfter
	v.Tick(v.Context())
	v.expectTurn("it hangs", false, "web", false)
	v.expectCalls("it hangs", "web", "")
	v.now += time.Millisecond
	first.copyAnswered, second.copyAnswered = true, true
	_ = v.end(v.Context(), write("shop", "a"), first, Cause{}, nil)
	v.expectTurn("a copy was answered", false, "web", false)
	v.expectCalls("a copy was answered", "", "c")
	_ = v.end(v.Context(), write("shop", "b"), second, Cause{}, nil)
	v.expectCalls("one waits for the lane", "", "")
	v.begins("c")()
	v.expectCalls("all targets are written", "web", "")
	if copied != "ab" || v.total != (load{}) {
		t.Errorf("copies of %q were sent; left: %+v", copied, v.total)
	}
}

// One that was called and does not come, because its pass fails before, gives its turn to another and is called again.
func TestOneThatIsCalledAndDoesNotCome(t *testing.T) {
	v := newReporters(t, 8)
	v.Turn(named("lost"), false)
	v.Turn(named("web"), false)
	v.expectCalls("the first", "lost", "")
	v.now += calledFor
	v.Tick(t.Context())
	v.expectCalls("again", "lost", "")
	v.Over(ID{named("lost"), WriteStatus})
	v.expectCalls("nothing to report any more", "web", "")
}

// B18: in a stream of flips that takes all that the API server can do, each status is stored within two minutes.
func TestAStreamOfFlipsStarvesNoStatus(t *testing.T) {
	const workers = 16
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		a := newArena(ctx, workers, map[string]time.Duration{"busy": 5 * time.Millisecond})
		go func() {
			for i := 0; ctx.Err() == nil; i++ {
				a.queue <- types.NamespacedName{Namespace: "busy", Name: fmt.Sprint(i)}
				if i%workers == 0 {
					select {
					case <-ctx.Done():
					case <-time.After(5 * time.Millisecond):
					}
				}
			}
		}()
		reports := make(chan types.NamespacedName, 1000)
		a.Attempts.mu.Lock()
		a.WakeLast = func(keys ...types.NamespacedName) {
			for _, key := range keys {
				reports <- key
			}
		}
		flips := a.Wake
		a.Wake = func(keys ...types.NamespacedName) {
			for _, key := range keys {
				if key.Namespace == "shop" {
					reports <- key
				} else {
					flips(key)
				}
			}
		}
		a.Attempts.mu.Unlock()
		time.Sleep(time.Second)
		const waiting = 100
		for i := range waiting {
			if a.Turn(named(fmt.Sprint(i)), true) {
				t.Error("a turn in the pass that wrote the target")
			}
		}
		begin, done := time.Now(), 0
		for done < waiting && time.Since(begin) < 2*longestTurn {
			select {
			case key := <-reports:
				if a.Turn(key, false) {
					time.Sleep(5 * time.Millisecond)
					a.Reported(key)
					done++
				}
			case <-time.After(time.Second):
			}
		}
		if took := time.Since(begin); done < waiting || took < longestTurn/2 {
			t.Errorf("%d of %d statuses were stored within %s", done, waiting, took)
		}
	})
}
