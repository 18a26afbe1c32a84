package storm

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// TestLateness measures how long after its boundary a lone change is seen by a watch, beside a bare client that sends the same
// write at the same instants. It asserts only that nothing is early.
func TestLateness(t *testing.T) {
	if *rounds == 0 {
		t.Skip("make bench measures")
	}
	for text := range strings.SplitSeq(*others, ",") {
		count, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("-others: %v", err)
		}
		t.Run(text, func(t *testing.T) {
			s := &scenario{fixtures.NewScaling(t, installation), count}
			s.lateness()
		})
	}
}

func (s *scenario) lateness() {
	s.SetClock("2025-01-27 08:00:00")
	manager := s.Start(nil, "--leader-elect=false")
	s.AwaitReady(manager)
	s.create("rest")
	s.each("rest", func(name string) error {
		tws := s.scaler(name)
		tws.Spec.Windows[0].Start = "12:00"
		return s.Client.Create(s.Context(), tws)
	})
	const ours, bares = "ours", "bares"
	for _, name := range []string{ours, bares} {
		s.Must(s.Client.Create(s.Context(), harness.NewDeployment(s.Namespace, name, 0)))
	}
	s.Must(s.Client.Create(s.Context(), s.scaler(ours)))
	s.atRest(manager, s.count+1)
	pair := &scenario{s.Scaling, 2}
	bare := pair.newBareClient("", 1)
	lead := 3*time.Second + time.Duration(s.count/500)*time.Second
	late := map[string][]time.Duration{}
	turns := *rounds
	if s.count > 0 { // each sets the clock, at which all are reconciled
		turns /= 4
	}
	for round := range turns {
		hour, replicas := []int{8, 16}[round%2], int32(1-round%2)
		boundary := time.Now().Add(lead)
		s.SetClock(fmt.Sprintf("2025-01-27 %02d:59:%02d", hour, int((time.Minute - lead).Seconds())))
		var sent errgroup.Group
		seen := pair.watch("", replicas, func() {
			sent.Go(func() error {
				time.Sleep(time.Until(boundary))
				return bare.scale(0, bares, replicas)
			})
		})
		s.Must(sent.Wait())
		for name, at := range seen {
			late[name] = append(late[name], at.Sub(boundary))
		}
	}
	slices.Sort(late[ours])
	slices.Sort(late[bares])
	if earliest := late[ours][0]; earliest < 0 {
		s.Errorf("a change came %s before its boundary", -earliest)
	}
	for _, goal := range []struct {
		percent int
		ratio   float64
	}{{50, 1.25}, {99, 2}} {
		at := func(times []time.Duration) float64 { return 1000 * times[(len(times)-1)*goal.percent/100].Seconds() }
		bench.Record(s, bench.Figure{
			Area: "storm", What: fmt.Sprintf("one change, %d others at rest: p%d", s.count, goal.percent), Unit: "ms",
			Value: at(late[ours]), Floor: at(late[bares]), Beside: "a bare client", Goal: goal.ratio,
		})
	}
}
