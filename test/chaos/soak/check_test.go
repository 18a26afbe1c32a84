package soak

import (
	"context"
	"time"

	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

const (
	// checkInterval is how often all targets are compared with what they should have.
	checkInterval = 2 * time.Second
	// quiet is how long the managers write nothing before what is overdue counts as forgotten. A machine that is too slow
	// makes managers late, but they go on writing.
	quiet = 10 * time.Second
	// limit is how late anything may be while the managers go on writing.
	limit = 5 * time.Minute
)

// keepChecking compares what every target has with what it should have, until ctx ends.
func (s *soak) keepChecking(ctx context.Context) {
	for ctx.Err() == nil {
		s.checkLeader()
		s.check(ctx)
		for _, r := range s.replicas {
			r.proxy.Forget() // an hour of requests does not fit into memory
		}
		select {
		case <-time.After(checkInterval):
		case <-ctx.Done():
		}
	}
}

// checkLeader makes the lack of a leader a fault, which has to end.
func (s *soak) checkLeader() {
	now, renewed := time.Now(), s.leader().lastRenewal()
	if now.Sub(renewed) < leaderless {
		return
	}
	s.disturbed(now)
	s.mu.Lock()
	over := s.active == 0 && now.Sub(s.faultless) > limit
	s.mu.Unlock()
	if over && now.Sub(renewed) > limit {
		s.failed("no manager leads since %s", clock(renewed))
	}
}

// check is one comparison. An API server that does not answer proves nothing.
func (s *soak) check(ctx context.Context) {
	began := time.Now()
	have, says, err := s.look(ctx)
	if err != nil {
		return
	}
	ended, settled := time.Now(), true
	for _, o := range s.objects {
		want, since, asked := o.want(began)
		if _, changed, _ := o.want(ended); !changed.Equal(since) { // the lists may be from before or after
			settled = false
			continue
		}
		got, there := have[o.key()]
		said, reports := says[o.namespace+"/"+o.name]
		wrong, misreported := there && got != want, reports && said != want
		if !asked || !wrong && !misreported {
			continue
		}
		settled = false
		switch overdue := s.isOverdue(since, began); {
		case overdue && wrong:
			s.reportOnce(o, "count", since, "has", got, want)
		case overdue:
			s.reportOnce(o, "status", since, "has a scaler whose status says", said, want)
		}
	}
	if settled {
		s.settled(began)
	}
}

// look returns the count of every target, by its key, and what every scaler's status says.
func (s *soak) look(ctx context.Context) (have, says map[string]int32, err error) {
	have, says = map[string]int32{}, map[string]int32{}
	for _, k := range kinds {
		if err := k.listing(ctx, s.client, have); err != nil {
			return nil, nil, err
		}
	}
	var scalers v1beta1.TimeWindowScalerList
	if err := s.client.List(ctx, &scalers); err != nil {
		return nil, nil, err
	}
	for i := range scalers.Items {
		tws := &scalers.Items[i]
		says[tws.Namespace+"/"+tws.Name] = ptr.Deref(tws.Status.EffectiveReplicas, -1)
	}
	return have, says, nil
}

// isOverdue reports whether what should be so since a time should be so by now.
func (s *soak) isOverdue(since, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if since.Before(s.calmSince) {
		since = s.calmSince
	}
	late := now.Sub(since)
	return s.active == 0 && late > *patience && (now.Sub(s.progressed) > quiet || late > limit)
}

func (s *soak) reportOnce(o *object, what string, since time.Time, verb string, got, want int32) {
	s.mu.Lock()
	before := s.overdue[what+o.key()]
	s.overdue[what+o.key()] = since
	calm := s.calmSince
	s.mu.Unlock()
	if !before.Equal(since) {
		s.failed("%s %s %d, want %d since %s; calm since %s\n%s", o.key(), verb, got, want, clock(since), clock(calm), o.history())
	}
}
