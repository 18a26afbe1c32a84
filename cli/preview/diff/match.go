package diff

import (
	"slices"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// near is how far a transition may move and still be the same. With more, a removed start on Monday could be taken for an added
// one on Tuesday.
const near = 12 * time.Hour

// steps is how the transitions of one timeline become those of another, by time. Those with the same instant and counts are left
// out.
func steps(before, after []timeline.Transition) (all []Step) {
	m := &matcher{before: before, after: after, partner: slices.Repeat([]int{-1}, len(before)), taken: make([]bool, len(after))}
	// From certain to likely matches; a pass keeps the pairs of earlier ones. First any transitions at the same instant, then the
	// same window and counts, then the same window, and finally a window that was renamed and moved.
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

// likeness is what two transitions must have in common to be paired. The zero value requires nothing.
type likeness struct {
	direction string
	window    string
	from, to  int32
}

// direction distinguishes the starts and ends of windows and holidays.
func direction(t timeline.Transition) string {
	if t.To > t.From {
		return "up " + string(t.Reason)
	}
	return "down " + string(t.Reason)
}

// matcher pairs transitions before a change with those after it.
type matcher struct {
	before, after []timeline.Transition
	partner       []int  // for each before, the index of its pair in after, or -1
	taken         []bool // for each after
}

// pass pairs transitions without a partner that are alike and less than within apart; 0 requires the same instant.
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

// pair pairs indexes of before and after, both ordered by time, without crossing. If the next of either side is nearer, that is
// taken instead.
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

func (m *matcher) apart(i, j int) time.Duration { return m.after[j].Time.Sub(m.before[i].Time) }
