package workspace

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// archives since a time, with a Job or without.
func archives(since time.Time, job string, change ...func(*v1alpha1.Operation)) func(*v1alpha1.WorkspaceStatus) {
	return func(s *v1alpha1.WorkspaceStatus) {
		operates(s, lifecycle.Archiving)
		s.Operation.AttemptStartedAt, s.Operation.JobName = &metav1.Time{Time: since}, job
		for _, c := range change {
			c(s.Operation)
		}
	}
}

// moverPod is the Pod of a neighbour's mover.
func moverPod(name string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: home.Namespace, Name: name + "-mover", Labels: map[string]string{
			objects.LabelRole: objects.RoleMover, objects.LabelWorkspaceUID: name,
		}},
		Status: corev1.PodStatus{Phase: phase},
	}
}

// W56: who holds a mover's slot.
func TestMoverSlots(t *testing.T) {
	t.Parallel()
	long := epoch.Add(-time.Hour)
	one := neighbour("a", "x", archives(long, "j"))
	for name, tc := range map[string]struct {
		others []client.Object
		full   bool
	}{
		"one of two":                     {others: []client.Object{one, moverPod("a", corev1.PodRunning)}},
		"one that runs, one that begins": {others: []client.Object{one, moverPod("a", corev1.PodRunning), neighbour("b", "y", archives(epoch, ""))}, full: true},
		"two that run": {others: []client.Object{
			one, moverPod("a", corev1.PodRunning), neighbour("b", "y", archives(long, "j")), moverPod("b", corev1.PodSucceeded),
		}, full: true},
		"one without a Pod": {others: []client.Object{one, neighbour("b", "y", archives(epoch, ""))}},
		"one whose Pod cannot be scheduled": {others: []client.Object{
			one, moverPod("a", corev1.PodPending), neighbour("b", "y", archives(epoch, "j")),
		}},
		"one that waits to try again": {others: []client.Object{
			one, moverPod("a", corev1.PodRunning), neighbour("b", "y", archives(epoch, "", func(o *v1alpha1.Operation) { o.NextRetryAt = &metav1.Time{Time: epoch.Add(time.Minute)} })),
		}},
		"one that only deletes the volume": {others: []client.Object{
			one, moverPod("a", corev1.PodRunning), neighbour("b", "y", archives(epoch, "j", func(o *v1alpha1.Operation) { o.PointOfNoReturn = true })),
		}},
		"one that waits for other people's Pods": {others: []client.Object{
			one, moverPod("a", corev1.PodRunning), neighbour("b", "y", archives(long, "")),
		}},
		"one that waits, claimed by a clock that was ahead": {others: []client.Object{
			one, moverPod("a", corev1.PodRunning), neighbour("b", "y", archives(epoch.Add(time.Hour), "")),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(tc.others, restores(aWorkspace()))...)
			w.r.reservations.limits = Limits{PerOwner: 2, PerNamespace: 3, All: 5, Movers: 2}
			archived := lifecycle.Status{Phase: lifecycle.Pending, ArchiveKey: "k"}
			got, err := w.r.reservations.available(t.Context(), w.workspace(), archived, epoch)
			if err != nil || got.MoversFull != tc.full {
				t.Errorf("%+v, %v, want %t", got, err, tc.full)
			}
		})
	}
}

// restores wants to be restored.
func restores(ws *v1alpha1.Workspace) *v1alpha1.Workspace {
	ws.Spec.DesiredState = v1alpha1.DesiredStandby
	return ws
}

// W58: the last slot is for restores, and the next one is for the namespace that has none. Those whose turn it is are woken.
func TestMoversTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var woken []types.NamespacedName
	r := &w.r.reservations
	r.limits, r.wake = Limits{PerOwner: 1, PerNamespace: 1, All: 1, Movers: 2}, func(keys ...types.NamespacedName) { woken = append(woken, keys...) }
	begins := func(namespace, name string, operation lifecycle.OperationType) bool {
		t.Helper()
		ws := inNamespace(namespace, neighbour(name, ""))
		next := lifecycle.Status{Phase: lifecycle.Standby, Operation: lifecycle.Operation{Type: operation, ID: name, StartedAt: epoch, AttemptStartedAt: epoch}}
		_, ok, err := r.reserve(t.Context(), ws, next, epoch)
		w.update(err)
		if !ok {
			spec := lifecycle.Workspace{Desired: lifecycle.Pending}
			before := lifecycle.Status{Phase: lifecycle.Standby}
			if operation == lifecycle.Restoring {
				spec.Desired, before = lifecycle.Standby, lifecycle.Status{Phase: lifecycle.Pending, ArchiveKey: "k"}
			}
			r.awaitMover(plan{observation: observation{ws: ws, spec: spec, now: epoch}, decision: lifecycle.Decision{Status: before, Code: lifecycle.CodeMoversFull}})
		}
		return ok
	}
	if !begins("greedy", "g1", lifecycle.Archiving) || begins("greedy", "g2", lifecycle.Archiving) || begins("modest", "m1", lifecycle.Archiving) {
		t.Fatal("archives must have one of two slots")
	}
	if !begins("urgent", "u1", lifecycle.Restoring) || begins("greedy", "u2", lifecycle.Restoring) {
		t.Fatal("a restore must have the last slot, and no second one")
	}
	r.release("u1")
	if want := []types.NamespacedName{{Namespace: "greedy", Name: "u2"}}; !slices.Equal(woken, want) {
		t.Errorf("woken: %v, want %v", woken, want)
	}
	if !begins("greedy", "u2", lifecycle.Restoring) {
		t.Error("a restore waits for archives")
	}
	woken = nil
	r.release("g1")
	if want := []types.NamespacedName{{Namespace: "modest", Name: "m1"}}; !slices.Equal(woken, want) {
		t.Errorf("woken: %v, want %v", woken, want)
	}
	if begins("greedy", "g2", lifecycle.Archiving) || !begins("modest", "m1", lifecycle.Archiving) {
		t.Error("it is the turn of the namespace that has none")
	}
	if len(r.movers.served) != 2 {
		t.Errorf("turns are kept of %v", r.movers.served)
	}
}

// The next attempt of an operation takes a slot that no cache shows yet, although the operation is known.
func TestARetryTakesItsSlotAtOnce(t *testing.T) {
	t.Parallel()
	again := neighbour("again", "", archives(epoch, "", func(o *v1alpha1.Operation) { o.NextRetryAt = &metav1.Time{Time: epoch} }))
	w := newWorld(t, again)
	r := &w.r.reservations
	r.limits.Movers = 1
	begins := lifecycle.Status{Operation: lifecycle.Operation{Type: lifecycle.Archiving, ID: "x", AttemptStartedAt: epoch.Add(time.Second)}}
	if _, ok, err := r.reserve(t.Context(), again, begins, epoch.Add(time.Second)); !ok || err != nil {
		t.Fatal(ok, err)
	}
	other := lifecycle.Status{Operation: lifecycle.Operation{Type: lifecycle.Restoring, ID: "y", AttemptStartedAt: epoch.Add(time.Second)}}
	if _, ok, err := r.reserve(t.Context(), neighbour("other", ""), other, epoch.Add(time.Second)); ok || err != nil {
		t.Error("two take the one slot", err)
	}
}

// Those who no longer say that they wait are forgotten, and take nobody's turn.
func TestWaitingIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := &w.r.reservations
	r.limits.Movers = 1
	ws, ghost := neighbour("a", ""), inNamespace("far", neighbour("ghost", ""))
	r.movers.wait(ghost, lifecycle.Restoring, epoch)
	status := lifecycle.Status{Phase: lifecycle.Standby}
	ws.Spec.DesiredState = v1alpha1.DesiredPending
	for after, full := range map[time.Duration]bool{0: true, waitsFor + time.Second: false} {
		got, err := r.available(t.Context(), ws, status, epoch.Add(after))
		if err != nil || got.MoversFull != full {
			t.Errorf("after %s: %+v, %v", after, got.Limits, err)
		}
		r.movers.wait(ghost, lifecycle.Restoring, epoch)
	}
	r.forget(client.ObjectKeyFromObject(ghost), ghost.UID)
	if len(r.movers.waiting) > 0 {
		t.Errorf("a Workspace that is gone waits: %v", r.movers.waiting)
	}
}
