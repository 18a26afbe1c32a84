// Package moverslots decides which homes are moved next (W58). It is pure.
package moverslots

import (
	"cmp"
	"slices"
	"time"
)

// Mover is a Workspace whose home is moved, or waits to be.
type Mover struct {
	// ID identifies the Workspace.
	ID        string
	Namespace string
	// Restores: its home is restored, which a person waits for. Otherwise it is archived.
	Restores bool
	// Since is when it began to wait.
	Since time.Time
}

// Kept returns how many slots of limit archives leave to restores: a fifth, and at least one if there is more than one.
func Kept(limit int) int {
	if limit < 2 {
		return 0
	}
	return max(limit/5, 1)
}

// Slots are the slots of movers, and who wants one.
type Slots struct {
	Limit            int
	Holding, Waiting []Mover
	// Served has for each namespace when it last took a slot: a number that grows. One that is not in it goes first.
	Served map[string]int
}

// Next returns who of the waiting may begin now, in order. Restores go before archives, and archives never take the last slots.
// A namespace leaves the last slot to others. Within each kind the namespace with the fewest slots goes first, then the one whose
// last turn was longest ago, then the Workspace that has waited longest.
func (s Slots) Next() []Mover {
	held, archived, archives := map[string]int{}, map[string]int{}, 0
	for _, m := range s.Holding {
		held[m.Namespace]++
		if !m.Restores {
			archives++
			archived[m.Namespace]++
		}
	}
	served, turn := map[string]int{}, 1
	for namespace, at := range s.Served {
		served[namespace], turn = at, max(turn, at+1)
	}
	before := func(a, b Mover) int {
		if a.Restores != b.Restores {
			return map[bool]int{true: -1, false: 1}[a.Restores]
		}
		return cmp.Or(cmp.Compare(held[a.Namespace], held[b.Namespace]), cmp.Compare(served[a.Namespace], served[b.Namespace]),
			a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID))
	}
	share := s.Limit - Kept(s.Limit)
	waits := func(m Mover) bool {
		return held[m.Namespace] >= most(s.Limit, s.Limit) ||
			!m.Restores && (archives >= share || archived[m.Namespace] >= most(share, s.Limit))
	}
	var next []Mover
	left := slices.Clone(s.Waiting)
	for len(s.Holding)+len(next) < s.Limit {
		if left = slices.DeleteFunc(left, waits); len(left) == 0 {
			break
		}
		m := slices.MinFunc(left, before)
		if !m.Restores {
			archives++
			archived[m.Namespace]++
		}
		held[m.Namespace]++
		served[m.Namespace] = turn
		turn++
		next = append(next, m)
		left = slices.DeleteFunc(left, func(other Mover) bool { return other.ID == m.ID })
	}
	return next
}

// most is how many of some slots one namespace may hold, if there are limit in all: its movers may take a day, so the last slot is
// another's.
func most(slots, limit int) int {
	if limit < 3 || slots < 2 {
		return slots
	}
	return slots - 1
}
