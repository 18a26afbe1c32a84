package storm

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// TestLateness prints how long after its boundary a lone change is seen by a watch, beside a bare client that sends the same
// write at the same instants. It asserts only that nothing is early.
func TestLateness(t *testing.T) {
	if *rounds == 0 {
		t.Skip("make bench measures")
	}
	s := &scenario{fixtures.NewScaling(t, installation), *others}
	s.SetClock("2025-01-27 08:00:00")
	manager := s.Start(nil, "--leader-elect=false")
	s.AwaitReady(manager)
	s.each(func(name string) error {
		return s.Client.Create(s.Context(), harness.NewDeployment(s.Namespace, name, 0))
	})
	s.each(func(name string) error {
		tws := s.scaler(name)
		tws.Spec.Windows[0].Start = "12:00"
		return s.Client.Create(s.Context(), tws)
	})
	const ours, bares = "ours", "bares"
	for _, name := range []string{ours, bares} {
		s.Must(s.Client.Create(s.Context(), harness.NewDeployment(s.Namespace, name, 0)))
	}
	s.Must(s.Client.Create(s.Context(), s.scaler(ours)))
	s.atRest(manager, *others+1)
	pair := &scenario{s.Scaling, 2}
	bare := pair.newBareClient(ours, 1)
	lead := 3*time.Second + time.Duration(*others/500)*time.Second
	late := map[string][]time.Duration{}
	for round := range *rounds {
		hour, replicas := []int{8, 16}[round%2], int32(1-round%2)
		boundary := time.Now().Add(lead)
		s.SetClock(fmt.Sprintf("2025-01-27 %02d:59:%02d", hour, int((time.Minute - lead).Seconds())))
		var sent errgroup.Group
		seen := pair.watch(replicas, func() {
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
		t.Errorf("a change came %s before its boundary", -earliest)
	}
	at := func(times []time.Duration, percent int) float64 {
		return 1000 * times[(len(times)-1)*percent/100].Seconds()
	}
	fmt.Printf("lateness: %d boundaries, %d others at rest | p50 %.1f ms, bare %.1f ms, ratio %.2f | p99 %.1f ms, bare %.1f ms, ratio %.2f\n", *rounds, *others,
		at(late[ours], 50), at(late[bares], 50), at(late[ours], 50)/at(late[bares], 50), at(late[ours], 99), at(late[bares], 99), at(late[ours], 99)/at(late[bares], 99))
}
