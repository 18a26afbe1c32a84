package moverslots_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/moverslots"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// movers draws Workspaces of a few namespaces.
func movers(t *rapid.T, what string, most int) []moverslots.Mover {
	all := make([]moverslots.Mover, rapid.IntRange(0, most).Draw(t, what))
	for i := range all {
		all[i] = moverslots.Mover{
			ID: fmt.Sprint(what, i), Namespace: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "namespace"),
			Restores: rapid.Bool().Draw(t, "restores"), Since: noon.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "since")) * time.Second),
		}
	}
	return all
}

func archives(all []moverslots.Mover) (n int) {
	for _, m := range all {
		if !m.Restores {
			n++
		}
	}
	return n
}

func onlyArchives(all []moverslots.Mover) []moverslots.Mover {
	return slices.DeleteFunc(slices.Clone(all), func(m moverslots.Mover) bool { return m.Restores })
}

func of(namespace string, all []moverslots.Mover) (n int) {
	for _, m := range all {
		if m.Namespace == namespace {
			n++
		}
	}
	return n
}

// W58, for any set of holding and waiting.
func TestNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 12).Draw(t, "limit")
		holding, waiting := movers(t, "holds", 14), movers(t, "waits", 20)
		served := map[string]int{"a": rapid.IntRange(0, 9).Draw(t, "a's turn"), "b": rapid.IntRange(0, 9).Draw(t, "b's turn")}
		next := moverslots.Slots{Limit: limit, Holding: holding, Waiting: waiting, Served: served}.Next()
		after := slices.Concat(holding, next)
		share := limit - moverslots.Kept(limit)
		if len(next) > 0 && len(after) > limit {
			t.Fatalf("%d of %d slots", len(after), limit)
		}
		if archives(next) > 0 && archives(after) > share {
			t.Fatalf("%d archives, more than their share of %d", archives(after), share)
		}
		rest := slices.DeleteFunc(slices.Clone(waiting), func(m moverslots.Mover) bool { return slices.Contains(next, m) })
		if len(rest)+len(next) != len(waiting) {
			t.Fatalf("%v is not a part of those who wait", next)
		}
		for _, m := range rest {
			full := limit >= 3 && of(m.Namespace, after) >= limit-1
			fullOfArchives := limit >= 3 && of(m.Namespace, onlyArchives(after)) >= max(share-1, 1)
			switch {
			case m.Restores && len(after) < limit && !full:
				t.Fatalf("%v waits although a slot is free", m)
			case !m.Restores && len(after) < limit && archives(after) < share && !full && !fullOfArchives:
				t.Fatalf("%v waits although archives have a slot left", m)
			case m.Restores && archives(next) > 0 && !full:
				t.Fatalf("%v waits for archives that begin", m)
			}
		}
		for i, chosen := range next {
			at := slices.Concat(holding, next[:i])
			for _, other := range slices.Concat(rest, next[i+1:]) {
				if other.Restores == chosen.Restores && of(other.Namespace, at) < of(chosen.Namespace, at) {
					t.Fatalf("%v goes before %v, whose namespace has fewer slots", chosen, other)
				}
			}
		}
	})
}

// One namespace with any number of waiting homes delays another's by one of its moves, at most.
func TestNoNamespaceStarves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit, restores := rapid.IntRange(1, 6).Draw(t, "limit"), rapid.Bool().Draw(t, "restores")
		var holding, waiting []moverslots.Mover
		served, turn := map[string]int{}, 0
		for i := range 100 {
			waiting = append(waiting, moverslots.Mover{ID: fmt.Sprint(i), Namespace: "greedy", Restores: restores, Since: noon})
		}
		step := func() {
			for _, m := range (moverslots.Slots{Limit: limit, Holding: holding, Waiting: waiting, Served: served}).Next() {
				holding = append(holding, m)
				turn++
				served[m.Namespace] = turn
				waiting = slices.DeleteFunc(waiting, func(other moverslots.Mover) bool { return other.ID == m.ID })
			}
		}
		step()
		single := moverslots.Mover{ID: "single", Namespace: "modest", Restores: restores, Since: noon.Add(time.Hour)}
		waiting = append(waiting, single)
		step()
		if !slices.Contains(holding, single) {
			holding = slices.Delete(holding, 0, 1) // any one ends
			step()
		}
		if !slices.Contains(holding, single) {
			t.Fatalf("it still waits: %v", holding)
		}
	})
}

// Homes of one namespace whose store takes a day to answer do not keep all others waiting: one slot is left for an archive, or a restore.
func TestANamespaceLeavesASlot(t *testing.T) {
	for limit := 3; limit < 30; limit++ {
		var waiting []moverslots.Mover
		for i := range 100 {
			waiting = append(waiting, moverslots.Mover{ID: fmt.Sprint(i), Namespace: "greedy", Restores: i%2 == 0, Since: noon})
		}
		for _, kind := range []func(moverslots.Mover) bool{
			func(moverslots.Mover) bool { return false },
			func(m moverslots.Mover) bool { return m.Restores },
			func(m moverslots.Mover) bool { return !m.Restores },
		} {
			held := moverslots.Slots{Limit: limit, Waiting: slices.DeleteFunc(slices.Clone(waiting), kind)}.Next()
			held = append(held, moverslots.Slots{Limit: limit, Holding: held, Waiting: waiting}.Next()...)
			for _, restores := range []bool{true, false} {
				modest := moverslots.Mover{ID: "modest", Namespace: "modest", Restores: restores, Since: noon.Add(time.Hour)}
				if next := (moverslots.Slots{Limit: limit, Holding: held, Waiting: append(slices.Clone(waiting), modest)}).Next(); !slices.Contains(next, modest) {
					t.Fatalf("of %d: restores %t: %v begin beside %d", limit, restores, next, len(held))
				}
			}
		}
	}
}

func TestKept(t *testing.T) {
	for limit, want := range map[int]int{1: 0, 2: 1, 5: 1, 9: 1, 10: 2, 100: 20} {
		if got := moverslots.Kept(limit); got != want {
			t.Errorf("of %d: %d, want %d", limit, got, want)
		}
	}
}
