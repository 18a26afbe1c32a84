package soak

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// revision is what the scaler's spec asks for, from the call that changed it on.
type revision struct {
	// begun and done are the times of that call. In between, a manager may or may not know it.
	begun, done time.Time
	plan        plan
	// absent: nothing is asked for, because the scaler is paused or deleted.
	absent bool
}

// write is one that the API server accepted.
type write struct {
	at    time.Time
	count int32
	by    string
}

// model knows what one target should have, and judges what is written to it.
type model struct {
	name string

	// immediate, if set, is the first plan without its grace period.
	immediate   plan
	gracePeriod time.Duration

	mu        sync.Mutex
	revisions []revision
	// known is the earliest time, by revision, at which a manager can have decided what it last wrote. A revision without
	// an entry is impossible.
	known map[int]time.Time
	// writes are the managers'. unanswered are when others of theirs were sent, of which nobody knows what became.
	writes     []write
	unanswered map[time.Time]bool
	// reported is what the stored status says was in force.
	reported int32
	// others is when others last wrote the count or replaced the target, and how often they did.
	others     time.Time
	otherCount int
	// causes is how many causes for a write there were before the last revision.
	causes int
}

func newModel(name string, p plan, now time.Time) *model {
	return &model{name: name, revisions: []revision{{begun: now, done: now, plan: p}}, known: map[int]time.Time{0: now}, unanswered: map[time.Time]bool{}, reported: unreported}
}

// unreported is that of a status that says nothing.
const unreported = -1

// report records what the status says is in force. Only less than that needs a grace period.
func (m *model) report(count int32) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reported = count
}

// change records a revision that begins now. The returned function records that the call is done.
func (m *model) change(now time.Time, p plan, absent bool) (done func(time.Time)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.revisions[len(m.revisions)-1]
	m.causes += 1 + last.plan.at(now) - last.plan.at(last.begun)
	m.revisions = append(m.revisions, revision{begun: now, plan: p, absent: absent})
	index := len(m.revisions) - 1
	return func(now time.Time) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.revisions[index].done = now
	}
}

// disturb records that others write the count or replace the target now.
func (m *model) disturb(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.others = now
	m.otherCount++
}

// sent records that a manager sends a write.
func (m *model) sent(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unanswered[at] = true
}

// refused records that the API server did not carry out the write that was sent at a time.
func (m *model) refused(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.unanswered, at)
}

// wrote judges a write of a manager that the API server accepted. It returns an error if no history of the manager explains
// it.
func (m *model) wrote(w write) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.writes
	m.writes = append(m.writes, w)
	delete(m.unanswered, w.at)
	unsure := len(m.unanswered) > 0
	// What was sent before cannot be carried out any more: it was decided for an older version of the target.
	maps.DeleteFunc(m.unanswered, func(at time.Time, _ bool) bool { return at.Before(w.at) })
	if n := len(before); n > 0 && before[n-1].count == w.count && before[n-1].at.After(m.others) && !unsure {
		return fmt.Errorf("%s wrote %d, which %s wrote before at %s", w.by, w.count, before[n-1].by, clock(before[n-1].at))
	}
	last := m.revisions[len(m.revisions)-1]
	if causes := m.causes + 2 + last.plan.at(w.at) - last.plan.at(last.begun) + 2*m.otherCount; len(m.writes) > causes {
		return fmt.Errorf("write number %d of %d, for %d causes", len(m.writes), w.count, causes)
	}
	known := m.explain(w)
	if unsure {
		before = nil
	}
	if at, found := m.graceIsOver(w, before); len(known) == 0 && found {
		known = map[int]time.Time{0: at}
	}
	if len(known) == 0 {
		m.known = m.explainAny(w)
		return fmt.Errorf("%s wrote %d, and no spec of that time or later than the one it acted on before asks for it", w.by, w.count)
	}
	m.known = known
	return nil
}

// explain returns when a manager can have decided w, by revision, if it never goes back.
func (m *model) explain(w write) map[int]time.Time {
	known := map[int]time.Time{}
	var earliest time.Time // of this revision or an older one
	for i, r := range m.revisions {
		if at, possible := m.known[i]; possible && (earliest.IsZero() || at.Before(earliest)) {
			earliest = at
		}
		if earliest.IsZero() || r.begun.After(w.at) || r.absent {
			continue
		}
		from := earliest
		if r.begun.After(from) {
			from = r.begun
		}
		if at, found := r.plan.next(from, w); found {
			known[i] = at
		}
	}
	return known
}

// graceIsOver reports whether w follows the plan without a grace period because none is left: the first decision has none, nor
// has one that is no decrease for who reads the status, because the one before was never reported; and a grace period that
// began with an earlier decrease ends for all that followed. before is empty if nobody knows what was written.
func (m *model) graceIsOver(w write, before []write) (decided time.Time, over bool) {
	if m.immediate == nil {
		return time.Time{}, false
	}
	i := m.immediate.at(w.at)
	decided = m.immediate[i].at
	if m.immediate[i].count != w.count {
		return time.Time{}, false
	}
	if len(before) == 0 || m.reported <= w.count {
		return decided, true
	}
	lower := decided // since when less is asked for than what was held
	for ; i > 0 && m.immediate[i].count < before[len(before)-1].count; i-- {
		lower = m.immediate[i].at
	}
	return decided, w.at.Sub(lower) >= m.gracePeriod
}

// explainAny is explain without a past.
func (m *model) explainAny(w write) map[int]time.Time {
	m.known = map[int]time.Time{0: m.revisions[0].begun}
	return m.explain(w)
}

// next returns the earliest time since from at which the plan asks for what w wrote.
func (p plan) next(from time.Time, w write) (at time.Time, found bool) {
	if from.After(w.at) {
		from = w.at // clocks of two processes may differ by a moment
	}
	for i := p.at(from); i < len(p) && !p[i].at.After(w.at); i++ {
		if p[i].count == w.count {
			if p[i].at.After(from) {
				return p[i].at, true
			}
			return from, true
		}
	}
	return time.Time{}, false
}

// want returns the count that should be in force now, and since when nothing has changed about that. ok is false while a
// call that changes it is under way, or nothing is asked for.
func (m *model) want(now time.Time) (count int32, since time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.revisions[len(m.revisions)-1]
	if last.done.IsZero() || last.absent {
		return 0, time.Time{}, false
	}
	at := last.plan.at(now)
	since = slices.MaxFunc([]time.Time{last.done, last.plan[at].at, m.others}, time.Time.Compare)
	return last.plan[at].count, since, true
}

// history describes the last revisions and writes.
func (m *model) history() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := ""
	for i, r := range m.revisions[max(0, len(m.revisions)-4):] {
		text += fmt.Sprintf("  spec %d from %s to %s, absent %v:", i, clock(r.begun), clock(r.done), r.absent)
		from := max(0, r.plan.at(time.Now())-4)
		for _, s := range r.plan[from:min(len(r.plan), from+8)] {
			text += fmt.Sprintf(" %s=%d", clock(s.at), s.count)
		}
		text += "\n"
	}
	for _, w := range m.writes[max(0, len(m.writes)-8):] {
		text += fmt.Sprintf("  %s wrote %d at %s\n", w.by, w.count, clock(w.at))
	}
	return text + fmt.Sprintf("  others wrote %d times, last at %s", m.otherCount, clock(m.others))
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }
