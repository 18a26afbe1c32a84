package attempts

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// Any order of writes and reports: while targets are due nobody has a turn who has not waited for a minute, not too many report at
// once, and in the end all have reported.
func TestTurnsOfAnyRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var now time.Duration
		workers := rapid.IntRange(1, 40).Draw(t, "workers")
		a := New(workers, func() time.Duration { return now })
		a.Probe = func(context.Context) error { return nil }
		woken := map[types.NamespacedName]bool{}
		a.WakeLast = func(keys ...types.NamespacedName) {
			for _, key := range keys {
				woken[key] = true
			}
		}
		a.Wake = a.WakeLast
		waits, writing, reporting := map[types.NamespacedName]time.Duration{}, map[string]*request{}, map[types.NamespacedName]bool{}
		pass := func(t *rapid.T, key types.NamespacedName, wrote bool) {
			if reporting[key] {
				return
			}
			since, before := waits[key]
			delete(woken, key)
			if !a.Turn(key, wrote) {
				if !before {
					waits[key] = now
				}
				return
			}
			reporting[key] = true
			delete(waits, key)
			if late := now-since >= longestTurn; !before || !late && (wrote || len(writing) > 0) {
				t.Fatalf("%v reports, known before: %v, since %s, wrote: %v, %d writes", key, before, now-since, wrote, len(writing))
			}
			if len(reporting) > max(workers/workersPerReport, 1) {
				t.Fatalf("%d of %d workers report", len(reporting), workers)
			}
		}
		key := rapid.Custom(func(t *rapid.T) types.NamespacedName { return named(fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "name"))) })
		finish := func(of types.NamespacedName) {
			delete(reporting, of)
			a.Reported(of)
		}
		endWrites := func(n int) {
			for _, name := range slices.Sorted(maps.Keys(writing))[:min(n, len(writing))] {
				_ = a.end(t.Context(), write("any", name), writing[name], Cause{}, nil)
				delete(writing, name)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"a pass":       func(t *rapid.T) { pass(t, key.Draw(t, "key"), rapid.Bool().Draw(t, "wrote")) },
			"another pass": func(t *rapid.T) { pass(t, key.Draw(t, "key"), false) },
			"a call": func(t *rapid.T) {
				for _, of := range ordered(woken) {
					pass(t, of, false)
				}
			},
			"a write begins": func(t *rapid.T) {
				name := key.Draw(t, "target").Name
				if r, err := a.begin(write("any", name), Lane{"any", deployments}, Cause{}, func(error) {}); err == nil && writing[name] == nil {
					writing[name] = r
				} else if err == nil {
					_ = a.end(t.Context(), write("any", name), r, Cause{}, nil)
				} else {
					a.Over(write("any", name)) // it is not due any more
				}
			},
			"a write ends": func(*rapid.T) { endWrites(1) },
			"a report ends": func(*rapid.T) {
				for _, of := range ordered(reporting) {
					finish(of)
					return
				}
			},
			"nothing to report": func(t *rapid.T) {
				if of := key.Draw(t, "key"); !reporting[of] {
					delete(waits, of)
					a.Over(ID{of, WriteStatus})
				}
			},
			"time": func(t *rapid.T) {
				endWrites(len(writing)) // otherwise they would hang
				now += time.Duration(rapid.IntRange(1, 70_000).Draw(t, "ms")) * time.Millisecond
			},
		})
		endWrites(len(writing))
		for rounds := 0; len(waits)+len(reporting) > 0; rounds++ {
			if rounds > 200 {
				t.Fatalf("still waiting: %v", waits)
			}
			for _, of := range ordered(reporting) {
				finish(of)
			}
			now += time.Second
			a.Tick(t.Context())
			for _, of := range ordered(woken) {
				pass(t, of, false)
			}
		}
	})
}

func ordered[V any](of map[types.NamespacedName]V) []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(of), func(a, b types.NamespacedName) int { return strings.Compare(a.Name, b.Name) })
}
