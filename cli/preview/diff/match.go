package diff

import (
	"slices"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// near is how far a transition may move and still be the same: less than that to the same hour of the day before or after. With
// more, a start on Monday that goes might be taken for the one on Tuesday that comes.
const near = 12 * time.Hour

// steps says how the transitions of one timeline become those of another, by time. Those that do the same at the same instant are
// left out.
func steps(before, after []timeline.Transition) (all []Step) {
	m := newMatcher(before, after)
	// From what is surely the same to what may be: a pass never takes back what an earlier one has paired. At the same instant
	// nothing needs to be alike; a window that begins later with another count is still that window; and one that was renamed
	// and moved is told by what it does.
	m.pass(0, func(timeline.Transition) likeness { return likeness{} })
	m.pass(near, func(t timeline.Transition) likeness { return likeness{direction(t), t.Window, t.From, t.To} })
	m.pass(near, func(t timeline.Transition) likeness { return likeness{direction(t), t.Window, 0, 0} })
	m.pass(near, func(t timeline.Transition) likeness { return likeness{direction: direction(t)} })
	for i := range before {
		switch j := m.partner[i]; {
		case j < 0:
			all = append(all, Step{Kind: Removed, Before: &before[i]})
		case !before[i].Time.Equal(after[j].Time):
			all = append(all, Step{Kind: Moved, Before: &before[i], After: &after[j]})
		case before[i].From != after[j].From || before[i].To != after[j].To:
			all = append(all, Step{Kind: Changed, Before: &before[i], After: &after[j]})
		}
	}
	for j := range after {
		if !m.taken[j] {
			all = append(all, Step{Kind: Added, After: &after[j]})
		}
	}
	slices.SortStableFunc(all, func(a, b Step) int { return a.at().Time.Compare(b.at().Time) })
	return all
}

// likeness is what two transitions must have in common to be taken for one that moved. The zero one asks for nothing.
type likeness struct {
	direction string
	window    string
	from, to  int32
}

// direction tells the starts and ends of windows, and those of holidays, apart.
func direction(t timeline.Transition) string {
	if t.To > t.From {
		return "up " + string(t.Reason)
	}
	return "down " + string(t.Reason)
}

// matcher finds for transitions before a change those after it.
type matcher struct {
	before, after []timeline.Transition
	partner       []int  // for each before, the index of the one after; -1 for none
	taken         []bool // for each after
}

// newMatcher has paired nothing yet.
func newMatcher(before, after []timeline.Transition) *matcher {
	m := &matcher{before: before, after: after, partner: make([]int, len(before)), taken: make([]bool, len(after))}
	for i := range m.partner {
		m.partner[i] = -1
	}
	return m
}

// pass pairs, in their order, what has no partner yet, is alike and lies less than within apart; 0 wants the same instant.
func (m *matcher) pass(within time.Duration, alike func(timeline.Transition) likeness) {
	ours, theirs := make(map[likeness][]int), make(map[likeness][]int)
	for i, t := range m.before {
		if m.partner[i] < 0 {
			ours[alike(t)] = append(ours[alike(t)], i)
		}
	}
	for j, t := range m.after {
		if !m.taken[j] {
			theirs[alike(t)] = append(theirs[alike(t)], j)
		}
	}
	for kind := range ours {
		m.pair(ours[kind], theirs[kind], within)
	}
}

// pair pairs indexes of before and after, both in the order of time, without crossing: a pair is left for a nearer one that one of
// the two makes with the next. Both are in the order of time, so one look ahead tells whether a nearer one comes, and one
// walk is enough.
func (m *matcher) pair(ours, theirs []int, within time.Duration) {
	for len(ours) > 0 && len(theirs) > 0 {
		apart := m.apart(ours[0], theirs[0])
		switch {
		case apart > 0 && apart >= within:
			ours = ours[1:]
		case apart < 0 && -apart >= within:
			theirs = theirs[1:]
		case len(theirs) > 1 && m.apart(ours[0], theirs[1]).Abs() < apart.Abs():
			theirs = theirs[1:]
		case len(ours) > 1 && m.apart(ours[1], theirs[0]).Abs() < apart.Abs():
			ours = ours[1:]
		default:
			m.partner[ours[0]], m.taken[theirs[0]] = theirs[0], true
			ours, theirs = ours[1:], theirs[1:]
		}
	}
}

// apart is how much later the one after the change is.
func (m *matcher) apart(i, j int) time.Duration { return m.after[j].Time.Sub(m.before[i].Time) }
