package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// BenchmarkPlanCycle measures one full cycle over Workspaces at rest (W41): the built manager on a real API server
// reconciles each of them once a minute. Ten workers share the passes. Requests are all that the manager sends meanwhile.
func BenchmarkPlanCycle(b *testing.B) {
	s := &fixtures.Workspaces{T: harness.NewT(b, cluster)}
	s.Namespace = s.NewNamespace("cycle-")
	rest := firstAtRest(s)
	made := 1
	for _, many := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			made = rest.copies(b, s, made, many)
			manager := serve(s)
			for b.Loop() {
				before := quiet(s, manager)
				seen := before
				for seen.passes < before.passes+float64(many) {
					time.Sleep(time.Second)
					seen = measure(s, manager)
				}
				perPass := (seen.seconds - before.seconds) / (seen.passes - before.passes)
				record := func(what, unit string, value float64) {
					bench.Record(b, bench.Figure{Area: "workspaces", What: fmt.Sprintf("%d at rest: %s", many, what), Unit: unit, Value: value})
				}
				record("one pass over all", "ms", 1000*perPass*float64(many))
				record("requests meanwhile", "requests", seen.requests-before.requests)
			}
			s.Must(manager.Kill())
		})
	}
}

// serve starts a manager of this namespace alone.
func serve(s *fixtures.Workspaces, args ...string) *harness.Manager {
	s.Helper()
	manager := s.StartManager(harness.ManagerOptions{Args: append(s.ManagerArgs(), args...)})
	s.AwaitReady(manager)
	return manager
}

// pair is a Workspace at rest and the PVC of its home.
type pair struct {
	workspace v1alpha1.Workspace
	claim     corev1.PersistentVolumeClaim
}

// firstAtRest creates a Workspace and waits until its home is on its volume and nothing is left to do.
func firstAtRest(s *fixtures.Workspaces) (p pair) {
	s.Helper()
	ws := s.NewWorkspace("first", "")
	ws.Spec.DesiredState, ws.Spec.Image, ws.Spec.Archive = v1alpha1.DesiredStandby, "example.com/ide:1", nil
	s.Must(s.Client.Create(s.Context(), ws))
	manager := serve(s)
	s.Until("the workspace at rest", func() bool {
		s.Get(s.Namespace, "first", ws)
		return fixtures.IsSettled(ws, fixtures.Standby)
	})
	quiet(s, manager)
	s.Get(s.Namespace, "first", &p.workspace)
	s.Get(s.Namespace, "ws-first-home", &p.claim)
	s.Must(manager.Kill())
	return p
}

// copies creates as many copies as are missing until there are many, and returns their number.
func (p pair) copies(b *testing.B, s *fixtures.Workspaces, made, many int) int {
	b.Helper()
	var group errgroup.Group
	group.SetLimit(10)
	for ; made < many; made++ {
		name := fmt.Sprintf("copy-%d", made)
		group.Go(func() error { return p.copy(s.Context(), s.Client, name) })
	}
	s.Must(group.Wait())
	return made
}

// copy creates a Workspace and a PVC as Kyklos would have left them: at rest from the first pass on.
func (p pair) copy(ctx context.Context, admin client.Client, name string) error {
	ws := p.workspace.DeepCopy()
	ws.ObjectMeta = metav1.ObjectMeta{Namespace: ws.Namespace, Name: name, Finalizers: ws.Finalizers}
	if err := admin.Create(ctx, ws); err != nil {
		return err
	}
	renamed := func(from, into any) error {
		text, err := json.Marshal(from)
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(strings.NewReplacer("ws-first", "ws-"+name, string(p.workspace.UID), string(ws.UID), `"first"`, `"`+name+`"`).Replace(string(text))), into)
	}
	var claim corev1.PersistentVolumeClaim
	if err := renamed(p.claim, &claim); err != nil {
		return err
	}
	claim.UID, claim.ResourceVersion, claim.ManagedFields = "", "", nil
	if err := admin.Create(ctx, &claim); err != nil {
		return err
	}
	if err := renamed(p.workspace.Status, &ws.Status); err != nil {
		return err
	}
	ws.Status.ObservedGeneration, ws.Status.Volume.UID = ws.Generation, string(claim.UID)
	for i := range ws.Status.Conditions {
		ws.Status.Conditions[i].ObservedGeneration = ws.Generation
	}
	return admin.Status().Update(ctx, ws)
}

// quiet waits until the manager sends no requests any more, and returns its totals.
func quiet(s *fixtures.Workspaces, manager *harness.Manager) totals {
	s.Helper()
	for last := measure(s, manager); ; {
		time.Sleep(5 * time.Second)
		now := measure(s, manager)
		if now.requests == last.requests {
			return now
		}
		last = now
	}
}

// totals count what a manager has done so far.
type totals struct{ passes, seconds, requests, cpu float64 }

func measure(s *fixtures.Workspaces, manager *harness.Manager) totals {
	s.Helper()
	return totals{
		passes:   s.Sum(manager, `controller_runtime_reconcile_time_seconds_count{controller="workspace"}`),
		seconds:  s.Sum(manager, `controller_runtime_reconcile_time_seconds_sum{controller="workspace"}`),
		requests: s.Sum(manager, "rest_client_requests_total"),
		cpu:      s.Sum(manager, "process_cpu_seconds_total"),
	}
}
