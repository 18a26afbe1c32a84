package workspace

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/bench"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// BenchmarkStartStop measures what it takes to start Workspaces that are all asked for at once, and then to stop them: on a
// real API server, whose Pods are simulated and ready at once. The time is until the last one has settled, divided
// by their number.
func BenchmarkStartStop(b *testing.B) {
	s := &fixtures.Workspaces{T: harness.NewT(b, cluster)}
	s.Namespace = s.NewNamespace("startstop-")
	rest := firstAtRest(s)
	made := 1
	for _, many := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(many), func(b *testing.B) {
			made = rest.copies(b, s, made, many)
			manager := serve(s, "--workspace-limit=2000", "--workspace-limit-per-namespace=2000", "--workspace-limit-per-owner=2000")
			quiet(s, manager)
			for b.Loop() {
				for _, change := range []struct {
					name    string
					desired v1alpha1.DesiredState
					state   string
				}{
					{"start", v1alpha1.DesiredRunning, fixtures.Running}, {"stop", v1alpha1.DesiredStandby, fixtures.Standby},
				} {
					before, started := measure(s, manager), time.Now()
					desire(s, change.desired, many)
					settled(s, change.state, many)
					took, after := time.Since(started), quiet(s, manager)
					record := func(what, unit string, value float64) {
						bench.Record(b, bench.Figure{Area: "workspaces", What: fmt.Sprintf("%d at once: %s of one, %s", many, change.name, what), Unit: unit, Value: value / float64(many)})
					}
					record("time", "ms", 1000*took.Seconds())
					record("CPU", "ms", 1000*(after.cpu-before.cpu))
					record("requests", "requests", after.requests-before.requests)
				}
			}
			s.Must(manager.Kill())
		})
	}
}

// desire asks for a state of all Workspaces.
func desire(s *fixtures.Workspaces, desired v1alpha1.DesiredState, many int) {
	s.Helper()
	var list v1alpha1.WorkspaceList
	s.List(s.Namespace, &list)
	if len(list.Items) != many {
		s.Fatalf("%d Workspaces, want %d", len(list.Items), many)
	}
	var group errgroup.Group
	group.SetLimit(16)
	for i := range list.Items {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"desiredState":"`+string(desired)+`"}}`))
		group.Go(func() error { return s.Client.Patch(s.Context(), &list.Items[i], patch) })
	}
	s.Must(group.Wait())
}

// settled waits until all Workspaces are in the state.
func settled(s *fixtures.Workspaces, state string, many int) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 500*time.Millisecond, 20*time.Minute, true, func(ctx context.Context) (bool, error) {
		var list v1alpha1.WorkspaceList
		if err := s.Client.List(ctx, &list, client.InNamespace(s.Namespace)); err != nil {
			return false, err
		}
		count := 0
		for i := range list.Items {
			if fixtures.IsSettled(&list.Items[i], state) {
				count++
			}
		}
		return count == many, nil
	})
	s.Must(err)
}
