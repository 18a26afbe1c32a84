package storm

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// TestLateness measures how long after its boundary a lone change is seen by a watch, beside a bare client that sends the same
// write at the same instants: while others in another namespace rest, and while they all change, too. It asserts only that
// nothing is early.
func TestLateness(t *testing.T) {
	if *rounds == 0 {
		t.Skip("make bench measures")
	}
	for _, group := range []struct {
		sizes        []int
		are          string
		start, end   string // of the window of the others; those at rest have none at any clock that is set
		turns        int
		median, most float64
	}{
		{*resting, "at rest", "22:00", "23:00", *rounds, 1.25, 2},
		{*storming, "changing", "09:00", "17:00", *rounds / 4, 5, 5},
	} {
		for _, count := range group.sizes {
			t.Run(fmt.Sprintf("%s %d", group.are, count), func(t *testing.T) {
				l := lateness{
					others: &scenario{fixtures.NewScaling(t, installation), count},
					pair:   &scenario{fixtures.NewScaling(t, installation), 2}, late: map[string][]time.Duration{},
				}
				l.measure(group.start, group.end, group.turns)
				l.record(fmt.Sprintf("one change, %d others %s: p50", count, group.are), 50, group.median)
				l.record(fmt.Sprintf("one change, %d others %s: p99", count, group.are), 99, group.most)
			})
		}
	}
}

// lateness is how late two Deployments change: one by Kyklos and one by a bare client.
type lateness struct {
	others, pair *scenario
	late         map[string][]time.Duration
}

const ours, bares = "ours", "bares"

func (l *lateness) measure(start, end string, turns int) {
	l.others.SetClock("2025-01-27 08:00:00")
	manager := l.others.Start(nil, "--leader-elect=false")
	l.others.AwaitReady(manager)
	l.others.create("other")
	l.others.each("other", func(name string) error {
		tws := l.others.scaler(name)
		tws.Spec.Windows[0].Start, tws.Spec.Windows[0].End = start, end
		return l.others.Client.Create(l.others.Context(), tws)
	})
	for _, name := range []string{ours, bares} {
		l.pair.Must(l.pair.Client.Create(l.pair.Context(), harness.NewDeployment(l.pair.Namespace, name, 0)))
	}
	l.pair.Must(l.pair.Client.Create(l.pair.Context(), l.pair.scaler(ours)))
	l.others.atRest(manager, l.others.count+1)
	bare := l.pair.newBareClient("", 1)
	for turn := range turns {
		monday := time.Date(2025, 1, 27+7*(turn/2), 0, 0, 0, 0, time.UTC)
		l.boundary(bare, monday.Add([]time.Duration{9, 17}[turn%2]*time.Hour), int32(1-turn%2))
		l.others.atRest(manager, 0)
	}
}

// boundary lets one pass.
func (l *lateness) boundary(bare *bareClient, at time.Time, replicas int32) {
	lead := 3*time.Second + time.Duration(l.others.count/1000)*time.Second // every scaler is reconciled when the clock is set
	boundary := time.Now().Add(lead)
	l.others.SetClock(at.Add(-lead).Format(time.DateTime))
	var sent errgroup.Group
	seen := l.pair.watch("", replicas, func() {
		sent.Go(func() error {
			time.Sleep(time.Until(boundary))
			return bare.scale(0, bares, replicas)
		})
	})
	l.pair.Must(sent.Wait())
	for name, at := range seen {
		l.late[name] = append(l.late[name], at.Sub(boundary))
	}
}

func (l *lateness) record(what string, percent int, goal float64) {
	at := func(name string) float64 {
		times := slices.Sorted(slices.Values(l.late[name]))
		if name == ours && times[0] < 0 {
			l.pair.Errorf("a change came %s before its boundary", -times[0])
		}
		return 1000 * times[(len(times)-1)*percent/100].Seconds()
	}
	bench.Record(l.pair, bench.Figure{Area: "storm", What: what, Unit: "ms", Value: at(ours), Floor: at(bares), Beside: "a bare client", Goal: goal})
}
