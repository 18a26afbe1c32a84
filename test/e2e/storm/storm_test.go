package storm

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// scenario is a namespace with as many Deployments and TimeWindowScalers as change at once.
type scenario struct {
	*fixtures.Scaling
	count int
}

// TestStorm prints, for both directions, the time from the boundary to the last changed spec.replicas that a watch sees, the
// same of a bare client, and what each change costs. It asserts only that nothing is early.
func TestStorm(t *testing.T) {
	if *sizes == "" {
		t.Skip("make bench measures")
	}
	fmt.Println("storm: flips direction | floor | Kyklos | ratio | all reported | manager CPU | scale writes, status writes, events, conversions for each flip")
	for text := range strings.SplitSeq(*sizes, ",") {
		count, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("-flips: %v", err)
		}
		t.Run(text, func(t *testing.T) {
			s := &scenario{fixtures.NewScaling(t, installation), count}
			s.measure()
		})
	}
}

func (s *scenario) measure() {
	s.each(func(name string) error {
		return s.Client.Create(s.Context(), harness.NewDeployment(s.Namespace, name, 0))
	})
	bare := s.newBareClient(s.name(0), 64)
	floors := map[int32]time.Duration{1: bare.flip(1), 0: bare.flip(0)}

	s.SetClock("2025-01-27 08:00:00")
	manager := s.Start(nil, "--leader-elect=false")
	s.AwaitReady(manager)
	s.each(func(name string) error { return s.Client.Create(s.Context(), s.scaler(name)) })
	s.atRest(manager, s.count)
	for _, boundary := range []struct {
		direction, before string
		replicas          int32
	}{{"up", "2025-01-27 08:59:", 1}, {"down", "2025-01-27 16:59:", 0}} {
		s.storm(manager, boundary.direction, boundary.before, boundary.replicas, floors[boundary.replicas])
	}
	s.Must(manager.Stop())
}

// storm lets a boundary pass and prints what it took.
func (s *scenario) storm(manager *harness.Manager, direction, before string, replicas int32, floor time.Duration) {
	lead := 10*time.Second + time.Duration(s.count/500)*time.Second // every scaler is reconciled when the clock is set
	passes := s.Sum(manager, "controller_runtime_reconcile_total")
	boundary := time.Now().Add(lead)
	s.SetClock(fmt.Sprintf("%s%02d", before, int((time.Minute - lead).Seconds())))
	s.atRest(manager, int(passes)+s.count)
	if time.Until(boundary) < time.Second {
		s.Fatal("this machine takes too long to reconcile all before the boundary")
	}
	costs := s.costs(manager)
	first, last := ends(s.watch(replicas, func() {}))
	if first.Before(boundary) {
		s.Errorf("the first change came %s before the boundary", boundary.Sub(first))
	}
	reported, spent := last, cost{}
	for spent.statuses < float64(s.count) || spent.events < float64(s.count) {
		reported = s.atRest(manager, 0)
		spent = s.costs(manager).minus(costs)
	}
	each := func(n float64) float64 { return n / float64(s.count) }
	fmt.Printf("storm: %6d %4s | %5.2f s | %5.2f s | %4.2f | %5.1f s | %5.2f ms each | %.2f, %.2f, %.2f, %.2f\n",
		s.count, direction, floor.Seconds(), last.Sub(boundary).Seconds(), last.Sub(boundary).Seconds()/floor.Seconds(), reported.Sub(boundary).Seconds(),
		1000*each(spent.cpu), each(spent.scales), each(spent.statuses), each(spent.events), each(spent.conversions))
}

func (s *scenario) name(i int) string { return fmt.Sprintf("web-%05d", i) }

// each does something for all names, some at once.
func (s *scenario) each(do func(name string) error) {
	s.Helper()
	var all errgroup.Group
	all.SetLimit(16)
	for i := range s.count {
		all.Go(func() error { return do(s.name(i)) })
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
