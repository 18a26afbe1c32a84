package attempts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
)

// Whatever the answers, no place is lost, no request is sent without one, and nobody waits although there is one.
func TestLanesOfAnyRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		workers := rapid.IntRange(1, 16).Draw(t, "workers")
		var now time.Duration
		a := New(workers, func() time.Duration { return now })
		woken := map[types.NamespacedName]bool{}
		a.Wake = func(keys ...types.NamespacedName) {
			for _, key := range keys {
				woken[key] = true
			}
		}
		a.Probe = func(context.Context) error { return nil }
		running := map[ID]*request{}
		id := rapid.Custom(func(t *rapid.T) ID {
			return write(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "namespace"), fmt.Sprint(rapid.IntRange(0, 20).Draw(t, "name")))
		})
		lane := func(i ID) Lane { return Lane{i.Scaler.Namespace, deployments} }
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				i := id.Draw(t, "id")
				if running[i] != nil || len(running) == workers {
					return
				}
				delete(woken, i.Scaler)
				if r, err := a.begin(i, lane(i), Cause{}, func(error) {}); err == nil {
					running[i] = r
				}
			},
			"end": func(t *rapid.T) {
				if len(running) == 0 {
					return
				}
				order := slices.SortedFunc(maps.Keys(running), func(a, b ID) int { return strings.Compare(a.Scaler.String(), b.Scaler.String()) })
				i := rapid.SampledFrom(order).Draw(t, "id")
				r := running[i]
				delete(running, i)
				answer := rapid.SampledFrom([]error{nil, nil, errAway, errRefused, errConflict}).Draw(t, "answer")
				_ = a.end(t.Context(), i, r, Cause{}, answer)
				woken[i.Scaler] = woken[i.Scaler] || errors.Is(answer, errConflict) // which the pass repeats
			},
			"over": func(t *rapid.T) {
				if i := id.Draw(t, "id"); running[i] == nil {
					a.Over(i)
				}
			},
			"time": func(t *rapid.T) { now += time.Duration(rapid.IntRange(1, 3000).Draw(t, "ms")) * time.Millisecond },
			"tick": func(t *rapid.T) { now += time.Second; a.Tick(t.Context()) },
			"": func(t *rapid.T) {
				counts, doubtful := map[Lane]int{}, 0
				for i := range running {
					counts[lane(i)]++
				}
				for of, l := range a.lanes {
					if l.running != counts[of] || l.running > max(workers/2, 1) || l.limit < fewest || l.limit > max(workers/2, fewest) {
						t.Fatalf("%v: %d under way, counted %d, limit %d", of, counts[of], l.running, l.limit)
					}
					doubtful += l.load().doubtful
				}
				if doubtful != a.total.doubtful || len(a.requests) != len(running) {
					t.Fatalf("doubtful %d, counted %d; %d requests, counted %d", doubtful, a.total.doubtful, len(running), len(a.requests))
				}
			},
		})
		// In the end everybody who waits is woken, and finds a place.
		for i, r := range running {
			_ = a.end(t.Context(), i, r, Cause{}, nil)
		}
		for rounds := 0; len(a.queued)+len(a.entries) > 0; rounds++ {
			if rounds > 500 {
				t.Fatalf("still waiting: %v, %v", a.queued, a.entries)
			}
			now += time.Second
			a.Tick(t.Context())
			for _, key := range slices.Collect(maps.Keys(woken)) {
				delete(woken, key)
				i := ID{key, WriteTarget}
				if r, err := a.begin(i, lane(i), Cause{}, func(error) {}); err == nil {
					_ = a.end(t.Context(), i, r, Cause{}, nil)
				}
			}
		}
	})
}

// choose keeps within the budget, gives no lane a second place before all have one, and prefers who waited longest.
func TestChoose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(0, 12).Draw(t, "budget")
		var candidates []candidate
		for i := range rapid.IntRange(0, 30).Draw(t, "candidates") {
			namespace := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "namespace")
			served := map[string]uint64{"a": 4, "b": 1, "c": 3, "d": 2}[namespace]
			candidates = append(candidates, candidate{write(namespace, fmt.Sprint(i)), Lane{namespace, deployments}, served, time.Duration(rapid.IntRange(0, 5).Draw(t, "last"))})
		}
		chosen := choose(candidates, budget)
		if len(chosen) != min(budget, len(candidates)) {
			t.Fatalf("%d chosen of %d with a budget of %d", len(chosen), len(candidates), budget)
		}
		have, got := map[Lane]int{}, map[Lane]int{}
		taken := map[ID]bool{}
		for _, c := range chosen {
			got[c.lane]++
			if taken[c.id] {
				t.Fatalf("%v is chosen twice", c.id)
			}
			taken[c.id] = true
		}
		for _, c := range candidates {
			have[c.lane]++
		}
		for a := range have {
			for b := range have {
				if got[a] > got[b]+1 && got[b] < have[b] {
					t.Fatalf("%v has %d, but %v only %d of %d", a, got[a], b, got[b], have[b])
				}
			}
		}
		for _, c := range candidates {
			for _, other := range chosen {
				if !taken[c.id] && c.lane == other.lane && c.last < other.last {
					t.Fatalf("%v has waited longer than %v", c.id, other.id)
				}
			}
		}
	})
}

// Those who wait are told why.
func TestAFullLane(t *testing.T) {
	v := newFixture(t, 10)
	of := Lane{"shop", deployments}
	for i := range fewest {
		if _, err := v.begin(write("shop", fmt.Sprint(i)), of, Cause{}, func(error) {}); err != nil {
			t.Fatal(err)
		}
	}
	sent, trouble := v.try(write("shop", "web"), Cause{}, nil)
	var busy *BusyError
	if sent || trouble.Lasts || !errors.As(trouble, &busy) {
		t.Errorf("sent %v, %+v", sent, trouble)
	}
	v.now += lastsFrom
	if _, trouble = v.try(write("shop", "web"), Cause{}, nil); !trouble.Lasts {
		t.Error("not reported after half a minute")
	}
}
