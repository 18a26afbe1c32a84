package workspace

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// neighbour is another Workspace, in a state.
func neighbour(name, owner string, change ...func(*v1alpha1.WorkspaceStatus)) *v1alpha1.Workspace {
	ws := aWorkspace(func(ws *v1alpha1.Workspace) { ws.Name, ws.UID, ws.Spec.Owner = name, types.UID(name), owner })
	for _, c := range change {
		c(&ws.Status)
	}
	return ws
}

func inNamespace(namespace string, ws *v1alpha1.Workspace) *v1alpha1.Workspace {
	ws.Namespace = namespace
	return ws
}

func runs(s *v1alpha1.WorkspaceStatus)   { s.Phase = v1alpha1.Phase(lifecycle.Running) }
func starts(s *v1alpha1.WorkspaceStatus) { operates(s, lifecycle.Starting) }

func operates(s *v1alpha1.WorkspaceStatus, operation lifecycle.OperationType) {
	s.Phase = v1alpha1.Phase(lifecycle.Standby)
	s.Operation = &v1alpha1.Operation{Type: v1alpha1.OperationType(operation), ID: "x", StartedAt: &metav1.Time{Time: epoch}, AttemptStartedAt: &metav1.Time{Time: epoch}}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		others []client.Object
		want   lifecycle.Limits
	}{
		"nobody": {},
		"one of two of the same owner": {
			others: []client.Object{neighbour("a", "", runs), neighbour("b", "ada", runs)},
		},
		"two of the same owner, one starting": {
			others: []client.Object{neighbour("a", "team", runs), neighbour("b", "", starts)}, want: lifecycle.Limits{OwnerFull: true},
		},
		"the same owner elsewhere": {
			others: []client.Object{inNamespace("evil", neighbour("a", "team", runs)), inNamespace("evil", neighbour("b", "team", starts))},
		},
		"as many as may in the namespace": {
			others: []client.Object{
				neighbour("a", "x", runs), neighbour("b", "y", starts), neighbour("c", "z", runs), inNamespace("far", neighbour("d", "", runs)),
			}, want: lifecycle.Limits{NamespaceFull: true},
		},
		"as many as may": {
			others: []client.Object{neighbour("a", "x", runs), neighbour("b", "y", runs), inNamespace("far", neighbour("c", "z", starts)),
				inNamespace("far", neighbour("d", "z", starts)), inNamespace("far", neighbour("e", "", runs))}, want: lifecycle.Limits{AllFull: true},
		},
		"itself does not count": {
			others: []client.Object{neighbour("a", "", runs)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, append(tc.others, aWorkspace())...)
			w.r.reservations.limits = Limits{PerOwner: 2, PerNamespace: 3, All: 5, Movers: 2}
			got, err := w.r.reservations.available(t.Context(), w.workspace(), lifecycle.Status{}, epoch)
			if err != nil || got.Limits != tc.want {
				t.Errorf("%+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
}

// Concurrent reservations, which no cache shows yet, do not take the same slot.
func TestClaimsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.r.reservations.limits = Limits{PerOwner: 3, PerNamespace: 100, All: 100, Movers: 100}
	next := lifecycle.Status{Phase: lifecycle.Standby, Operation: lifecycle.Operation{Type: lifecycle.Starting, ID: "new", StartedAt: epoch}}
	var entered sync.Map
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			ws := neighbour(fmt.Sprint("n", i), "ada")
			if _, ok, err := w.r.reservations.reserve(t.Context(), ws, next, epoch); ok && err == nil {
				entered.Store(ws.Name, true)
			}
		})
	}
	all.Wait()
	count, one := 0, ""
	entered.Range(func(name, _ any) bool { count, one = count+1, name.(string); return true })
	if count != 3 {
		t.Fatalf("%d entered, want 3", count)
	}
	if _, ok, _ := w.r.reservations.reserve(t.Context(), neighbour("late", "ada"), next, epoch); ok {
		t.Error("a fourth entered")
	}
	w.r.reservations.release(types.UID(one))
	if _, ok, _ := w.r.reservations.reserve(t.Context(), neighbour("late", "ada"), next, epoch); !ok {
		t.Error("no Workspace gets the slot that became free")
	}
	if _, ok, _ := w.r.reservations.reserve(t.Context(), neighbour("later", "ada"), next, epoch.Add(reservedFor+time.Second)); !ok {
		t.Error("claims that no cache ever showed count for ever")
	}
	for _, name := range []string{"full", "fuller"} {
		_, _, _ = w.r.reservations.reserve(t.Context(), neighbour(name, "ada"), next, epoch.Add(reservedFor+time.Second))
	}
	if _, ok, _ := w.r.reservations.reserve(t.Context(), neighbour("latest", "ada"), next, epoch.Add(-time.Hour)); !ok {
		t.Error("claims count until a clock that was set back has come there again")
	}
}

func TestWaitingObjectsAreWoken(t *testing.T) {
	t.Parallel()
	var called []types.NamespacedName
	g := reservations{wake: func(keys ...types.NamespacedName) { called = append(called, keys...) }}
	for i := range wakeAtOnce + 2 {
		for range 2 {
			g.queue(types.NamespacedName{Name: fmt.Sprint(i)})
		}
	}
	g.forget(types.NamespacedName{Name: "3"}, "uid")
	if len(called) != wakeAtOnce || called[0].Name != "0" || called[3].Name != "4" {
		t.Errorf("called: %v, want the first %d of those that still wait", called, wakeAtOnce)
	}
	g.release("uid")
	g.release("uid")
	if len(called) != wakeAtOnce+1 {
		t.Errorf("called in the end: %v, want each once", called)
	}
}

// A Workspace over the limit reports that, and starts when there is a slot.
func TestAWorkspaceWaitsForItsOwnersOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace(), neighbour("a", "", runs), neighbour("b", "", runs))
	w.converge()
	w.expectState("STANDBY")
	status := w.workspace().Status
	for _, condition := range status.Conditions {
		if condition.Type == v1alpha1.ConditionReady && (condition.Status != metav1.ConditionFalse || condition.Reason != string(lifecycle.CodeOwnerLimit)) {
			t.Errorf("Ready: %+v", condition)
		}
		if condition.Type == v1alpha1.ConditionReady && !strings.Contains(condition.Message, ": a, b. ") {
			t.Errorf("it does not say which run: %s", condition.Message)
		}
	}
	if status.Error != nil || len(w.r.reservations.waiting) != 1 {
		t.Errorf("error %+v, waiting %v: a limit is a wait, and no error", status.Error, w.r.reservations.waiting)
	}
	w.update(w.server.Delete(t.Context(), neighbour("a", "")))
	w.converge()
	w.expectState("RUNNING")
}
