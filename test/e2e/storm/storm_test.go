package storm

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// scenario is a namespace with as many Deployments and TimeWindowScalers as change at once.
type scenario struct {
	*fixtures.Scaling
	count int
}

// TestStorm measures, for both directions, the time from the boundary to the last changed spec.replicas that a watch sees, the
// same of a bare client with Deployments of its own, in turns, and what each change costs. It asserts only that nothing is early.
func TestStorm(t *testing.T) {
	if len(*sizes) == 0 {
		t.Skip("make bench measures")
	}
	for _, count := range *sizes {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			s := &scenario{fixtures.NewScaling(t, installation), count}
			s.measure()
		})
	}
}

// turns is how often a storm is measured: small ones take little and vary more.
func (s *scenario) turns() int { return max(1, min(7, 7000/s.count)) }

func (s *scenario) measure() {
	s.create("web")
	s.create("bare")
	bare := s.newBareClient("bare", 64)
	s.SetClock("2025-01-27 08:00:00")
	manager := s.Start(nil, "--leader-elect=false")
	s.AwaitReady(manager)
	s.each("web", func(name string) error { return s.Client.Create(s.Context(), s.scaler(name)) })
	s.atRest(manager, s.count)
	for turn := range s.turns() {
		monday := time.Date(2025, 1, 27+7*turn, 0, 0, 0, 0, time.UTC)
		for _, boundary := range []struct {
			direction string
			hour      int
			replicas  int32
		}{{"up", 9, 1}, {"down", 17, 0}} {
			floor := bare.flip(boundary.replicas)
			s.atRest(manager, 0)
			s.storm(manager, boundary.direction, monday.Add(time.Duration(boundary.hour)*time.Hour), boundary.replicas, floor)
		}
	}
	s.Must(manager.Stop())
}

// storm lets a boundary pass and records what it took.
func (s *scenario) storm(manager *harness.Manager, direction string, at time.Time, replicas int32, floor time.Duration) {
	lead := 10*time.Second + time.Duration(s.count/500)*time.Second // every scaler is reconciled when the clock is set
	passes := s.Sum(manager, "controller_runtime_reconcile_total")
	boundary := time.Now().Add(lead)
	s.SetClock(at.Add(-lead).Format(time.DateTime))
	s.atRest(manager, int(passes)+s.count)
	if time.Until(boundary) < time.Second {
		s.Fatal("this machine takes too long to reconcile all before the boundary")
	}
	costs := s.costs(manager)
	first, last := ends(s.watch("web", replicas, func() {}))
	if first.Before(boundary) {
		s.Errorf("the first change came %s before the boundary", boundary.Sub(first))
	}
	reported, spent := last, cost{}
	for spent.statuses < float64(s.count) || spent.events < float64(s.count) {
		reported = s.atRest(manager, 0)
		spent = s.costs(manager).minus(costs)
	}
	record := func(what, unit string, value, goal float64) {
		bench.Record(s, bench.Figure{Area: "storm", What: fmt.Sprintf("%d changes %s: %s", s.count, direction, what), Unit: unit, Value: value, Goal: goal})
	}
	bench.Record(s, bench.Figure{
		Area: "storm", What: fmt.Sprintf("%d changes %s: the last one", s.count, direction), Unit: "s", Value: last.Sub(boundary).Seconds(),
		Floor: floor.Seconds(), Beside: "a bare client", Goal: 1.25,
	})
	each := func(n float64) float64 { return n / float64(s.count) }
	record("the last status and event", "s", reported.Sub(boundary).Seconds(), 0)
	record("CPU of the manager for each", "ms", 1000*each(spent.cpu), 0)
	record("writes for each, without its event", "requests", each(spent.scales+spent.statuses), 2)
	record("requests that the API server refused for now, for each", "requests", each(spent.refused), 0)
	record("conversions for each, which the API server asks for", "requests", each(spent.conversions), 0)
}

func nameOf(prefix string, i int) string { return fmt.Sprintf("%s-%05d", prefix, i) }

// create creates Deployments without replicas.
func (s *scenario) create(prefix string) {
	s.Helper()
	s.each(prefix, func(name string) error {
		return s.Client.Create(s.Context(), harness.NewDeployment(s.Namespace, name, 0))
	})
}

// each does something for all names, some at once.
func (s *scenario) each(prefix string, do func(name string) error) {
	s.Helper()
	var all errgroup.Group
	all.SetLimit(16)
	for i := range s.count {
		all.Go(func() error { return do(nameOf(prefix, i)) })
	}
	s.Must(all.Wait())
}

func (s *scenario) scaler(name string) *v1beta1.TimeWindowScaler {
	return &v1beta1.TimeWindowScaler{ObjectMeta: s.Named(name), Spec: v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{Kind: "Deployment", Name: name}, Timezone: "UTC",
		Windows: []v1beta1.Window{{Days: []v1beta1.Weekday{"Mon"}, Start: "09:00", End: "17:00", Replicas: intstr.FromInt32(1)}},
	}}
}

// atRest waits until there were so many passes, and none for two seconds. It returns when the last one was.
func (s *scenario) atRest(manager *harness.Manager, passes int) time.Time {
	s.Helper()
	before, since := 0.0, time.Now()
	for pause := 500 * time.Millisecond; time.Since(since) < 2*time.Second+pause; {
		select {
		case <-s.Context().Done():
			s.Fatal("never saw the manager at rest")
		case <-time.After(pause):
		}
		asked := time.Now()
		now := s.Sum(manager, "controller_runtime_reconcile_total")
		pause = max(pause, 20*time.Since(asked)) // a scrape is work, too
		if now != before || now < float64(passes) {
			before, since = now, asked
		}
	}
	return since
}
