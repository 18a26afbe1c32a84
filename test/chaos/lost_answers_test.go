package chaos

import (
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// The API server's answer to the first write of each kind is lost: to each target, to each status, to events. The manager
// lives and tries again. Each target is written once, and each flip has one event.
func TestAnswersLost(t *testing.T) {
	l := newLone(t)
	l.SetClock("2025-01-27 08:59:00")
	l.everyKind()
	l.start()
	l.awaitKinds(0)
	onAtStart := 0 // the others are made with no replicas
	for _, kind := range fixtures.TargetKinds {
		if kind.OnOff() {
			onAtStart++
		}
	}
	var before []eventsv1.Event
	l.Until("the events about what was on at the start", func() bool {
		before = l.scaled()
		return len(before) == onAtStart
	})
	for _, boundary := range []struct {
		clock    string
		replicas int32
	}{{"2025-01-27 09:00:00", 3}, {"2025-01-27 17:00:00", 0}} {
		l.proxy.Forget()
		var lost []*harness.Injection
		for _, kind := range fixtures.TargetKinds {
			lost = append(lost,
				l.lose(1, harness.Match{Verbs: []string{"patch"}, Resource: kind.Resource, Namespace: l.Namespace, Name: kind.Resource}),
				l.lose(1, harness.Match{Verbs: harness.WriteVerbs, Resource: "timewindowscalers", Subresource: "status", Name: kind.Resource}))
		}
		lost = append(lost, l.lose(2, harness.Match{Verbs: []string{"create"}, Resource: "events"}))
		l.SetClock(boundary.clock)
		l.awaitKinds(boundary.replicas)
		for i, rule := range lost {
			l.Until("the answers lost", func() bool { return rule.Hits() > 0 || i == len(lost)-1 })
			rule.Remove()
		}
		for _, kind := range fixtures.TargetKinds {
			l.wroteOnly(kind, kind.Resource, boundary.replicas)
		}
	}
	notes := map[string]int{}
	for _, e := range l.scaled() {
		if slices.ContainsFunc(before, func(b eventsv1.Event) bool { return b.UID == e.UID }) {
			continue
		}
		notes[e.Regarding.Name+": "+e.Note]++
		if n := notes[e.Regarding.Name+": "+e.Note]; n > 1 || e.Series != nil {
			l.Errorf("%s: %q was published %d times (series %v)", e.Regarding.Name, e.Note, n, e.Series)
		}
	}
}

// scaled are the events about what was scaled.
func (l *lone) scaled() []eventsv1.Event {
	var list eventsv1.EventList
	l.List(l.Namespace, &list)
	return slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool { return !strings.HasPrefix(e.Reason, "Scaled") })
}

func (l *lone) lose(times int, match harness.Match) *harness.Injection {
	return l.proxy.Add(harness.Rule{Match: match, Times: times, Action: harness.LoseAnswer()})
}
