package manager

import (
	"context"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// insists applies 4 replicas of web every 100 ms, as a GitOps tool does, until the test ends.
func (s *scenario) insists() {
	ctx, cancel := context.WithCancel(s.Context())
	manifest := []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"replicas":4}}`)
	var under sync.WaitGroup
	under.Go(func() {
		for tick := time.NewTicker(100 * time.Millisecond); ctx.Err() == nil; {
			d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "web"}}
			err := s.Client.Patch(ctx, d, client.RawPatch(types.ApplyPatchType, manifest), client.ForceOwnership, client.FieldOwner("argocd-controller"))
			if err != nil && ctx.Err() == nil {
				s.Errorf("the rival: %v", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	})
	s.Cleanup(func() { cancel(); under.Wait() })
}

// degraded returns the condition of web, or nil.
func (s *scenario) degraded() *metav1.Condition {
	s.Helper()
	tws := &v1beta1.TimeWindowScaler{}
	s.Must(s.Client.Get(s.Context(), client.ObjectKey{Namespace: s.Namespace, Name: "web"}, tws))
	return meta.FindStatusCondition(tws.Status.Conditions, v1beta1.ConditionDegraded)
}

func (s *scenario) fightEvents() (count int) {
	s.Helper()
	var list eventsv1.EventList
	s.Must(s.Client.List(s.Context(), &list, client.InNamespace(s.Namespace)))
	for _, e := range list.Items {
		if e.Reason == "FieldFight" {
			count++
		}
	}
	return count
}

// A fight survives a restart of the manager: it is not reported again, and corrections do not get faster. With
// --on-fight=enforce it is reported too, and every write of the rival is corrected at once.
func TestAFightThroughRestarts(t *testing.T) {
	const corrections = "kyklos_manual_drift_corrections_total"
	s := newScenario(t)
	s.SetClock("2025-01-27 10:00:00")
	s.CreatePair("web", 3, "09:00", "17:00")
	first := s.Start(nil, "--leader-elect=false", "--namespaces="+s.Namespace)
	s.AwaitReady(first)
	s.AwaitSettled(1, 3)
	s.insists()
	fights := func() bool { return s.degraded().Reason == v1beta1.ReasonFieldFight }
	s.Until("the fight reported", fights)
	s.Until("its event", func() bool { return s.fightEvents() == 1 })
	since := s.degraded().LastTransitionTime
	s.Must(first.Kill())

	second := s.Start(nil, "--leader-elect=false", "--namespaces="+s.Namespace)
	s.AwaitReady(second)
	s.Until("the fight in the metrics", func() bool { return s.Sum(second, "kyklos_field_fight") == 1 })
	if n := s.Sum(second, corrections); n != 0 {
		t.Errorf("got %v corrections right after the restart, want 0", n)
	}
	s.SetClock("2025-01-27 10:10:00")
	s.Until("the next correction", func() bool { return s.Sum(second, corrections) == 1 })
	s.Must(second.Kill())

	third := s.Start(nil, "--leader-elect=false", "--namespaces="+s.Namespace, "--on-fight=enforce")
	s.AwaitReady(third)
	// With back-off these would take minutes.
	s.Until("corrections at full speed", func() bool { return s.Sum(third, corrections) >= 8 })
	if !fights() || !s.degraded().LastTransitionTime.Equal(&since) || s.fightEvents() != 1 {
		t.Errorf("got %+v, want FieldFight since %s; got %d events, want 1", s.degraded(), since, s.fightEvents())
	}
}
