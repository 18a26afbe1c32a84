package workspaceidle

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/activity"
	ownevents "kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/golden"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// stage is one Workspace, team/ann, with a standbyTTL of 5 minutes and an archiveTTL of a day.
type stage struct {
	*testing.T
	client.Client
	reconciler *Reconciler
	clock      *clocktesting.FakePassiveClock
	events     *events.FakeRecorder
	// leases counts reads of the Lease, patches counts writes of the Workspace.
	leases, patches int
	// fails is the answer to the next such requests.
	failLease, failPatch, failStatus error
	// meanwhile runs after the live read of the Workspace.
	meanwhile func()
}

func workspace(phase v1alpha1.Phase, since time.Time) *v1alpha1.Workspace {
	ws := &v1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ann", UID: "1", CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))},
		Spec: v1alpha1.WorkspaceSpec{
			DesiredState: v1alpha1.DesiredState(phase), StandbyTTLSeconds: 300, ArchiveTTLSeconds: 86400,
			Archive: &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: "store"}},
		},
		Status: v1alpha1.WorkspaceStatus{Phase: phase, Operation: &v1alpha1.Operation{Type: v1alpha1.OperationNone}},
	}
	meta.SetStatusCondition(&ws.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionInUse, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonIdle})
	if phase == v1alpha1.Phase(v1alpha1.DesiredRunning) {
		ws.Status.RunningSince = ptr.To(metav1.NewTime(since))
	} else {
		ws.Status.StandbySince = ptr.To(metav1.NewTime(since))
	}
	return ws
}

func newStage(t *testing.T, ws *v1alpha1.Workspace) *stage {
	scheme := runtime.NewScheme()
	s := &stage{T: t, clock: clocktesting.NewFakePassiveClock(noon), events: events.NewFakeRecorder(9)}
	s.must(errors.Join(v1alpha1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme)))
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(ws).WithStatusSubresource(ws).Build()
	s.Client = server
	live := interceptor.NewClient(server, interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
			if _, ok := obj.(*coordinationv1.Lease); ok {
				s.leases++
				if s.failLease != nil {
					return s.failLease
				}
			} else if s.meanwhile != nil {
				defer s.meanwhile()
			}
			return c.Get(ctx, key, obj, opts...)
		},
	})
	writer := interceptor.NewClient(server, interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			s.patches++
			if s.failPatch != nil {
				return s.failPatch
			}
			return c.Patch(ctx, obj, patch, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, name string, obj client.Object, opts ...client.SubResourceUpdateOption) error {
			if s.failStatus != nil {
				return s.failStatus
			}
			return c.SubResource(name).Update(ctx, obj, opts...)
		},
	})
	s.reconciler = &Reconciler{Client: writer, Live: live, Clock: s.clock, Events: ownevents.NewRecorder(s.events)}
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// passAfter runs one pass, a while later.
func (s *stage) passAfter(after time.Duration) reconcile.Result {
	s.Helper()
	s.clock.SetTime(s.clock.Now().Add(after))
	result, err := s.reconciler.Reconcile(s.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team", Name: "ann"}})
	s.must(err)
	return result
}

// desires checks the desired state, and how often the Workspace was patched and the Lease read so far.
func (s *stage) desires(want v1alpha1.DesiredState, patches, leases int) {
	s.Helper()
	if got := s.read().Spec.DesiredState; got != want || s.patches != patches || s.leases != leases {
		s.Errorf("%s after %d writes and %d reads of the Lease; want %s, %d, %d", got, s.patches, s.leases, want, patches, leases)
	}
}

func (s *stage) read() *v1alpha1.Workspace {
	s.Helper()
	var ws v1alpha1.Workspace
	s.must(s.Get(s.Context(), client.ObjectKey{Namespace: "team", Name: "ann"}, &ws))
	return &ws
}

func (s *stage) change(change func(*v1alpha1.Workspace)) {
	s.Helper()
	ws := s.read()
	change(ws)
	status := ws.Status.DeepCopy()
	s.must(s.Update(s.Context(), ws))
	ws.Status = *status
	s.must(s.Status().Update(s.Context(), ws))
}

// beat sends a heartbeat now.
func (s *stage) beat() {
	s.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: activity.LeaseName("ann")}}
	_ = s.Delete(s.Context(), lease)
	lease.ResourceVersion = ""
	lease.Spec.RenewTime = ptr.To(metav1.NewMicroTime(s.clock.Now()))
	s.must(s.Create(s.Context(), lease))
}

// W37, W47: an idle Workspace is lowered once, with an event.
func TestAnIdleWorkspaceIsLoweredOnce(t *testing.T) {
	s := newStage(t, workspace("RUNNING", noon))
	s.passAfter(0)
	s.passAfter(5*time.Minute - time.Nanosecond)
	s.desires("RUNNING", 0, 0)
	s.passAfter(time.Nanosecond)
	s.desires("STANDBY", 1, 1)
	golden.NewMessages(t).Add("without a heartbeat", s.note())
	if result := s.passAfter(time.Hour); result.RequeueAfter != 0 {
		t.Errorf("while it stops, time does not matter: %v", result)
	}
	s.change(func(ws *v1alpha1.Workspace) { ws.Status = workspace("STANDBY", s.clock.Now()).Status })
	s.passAfter(24*time.Hour - time.Nanosecond)
	s.desires("STANDBY", 1, 1)
	s.passAfter(time.Nanosecond)
	s.desires("PENDING", 2, 2)
}

// The event about one that never got to its desired state does not say that it entered it.
func TestAWorkspaceThatNeverStarted(t *testing.T) {
	ws := workspace("STANDBY", noon)
	ws.Spec.DesiredState = v1alpha1.DesiredRunning
	ws.Status.Operation = &v1alpha1.Operation{
		Type: v1alpha1.OperationStarting, ID: "x", Attempt: 2, StartedAt: ptr.To(metav1.NewTime(noon)), Failures: v1alpha1.FailureCounts{ActionFailed: 1},
	}
	s := newStage(t, ws)
	s.passAfter(10 * time.Minute) // five for its first attempt
	s.desires("STANDBY", 1, 1)
	golden.NewMessages(t).Add("it never started", s.note())
}

// Heartbeats delay it, and cost one read of the Lease each time it would be due.
func TestHeartbeatsDelayIt(t *testing.T) {
	s := newStage(t, workspace("RUNNING", noon))
	for range 30 {
		s.beat()
		s.passAfter(time.Minute)
	}
	s.desires("RUNNING", 0, 7) // at 5, and each time five minutes after the beat before
	if result := s.passAfter(0); result.RequeueAfter <= 0 || result.RequeueAfter > 66*time.Second {
		t.Errorf("the next pass is after %v", result.RequeueAfter)
	}
	last := s.clock.Now().Add(-time.Minute)
	s.passAfter(4*time.Minute - time.Second) // the heartbeat that was last read is five minutes old, and there is a later one
	s.desires("RUNNING", 0, 8)
	s.passAfter(time.Second)
	s.desires("STANDBY", 1, 9)
	note := s.note()
	if !strings.Contains(note, last.Format(time.RFC3339)) {
		t.Error(note)
	}
	golden.NewMessages(t).Add("after a heartbeat", note)
}

// D15: heartbeats of an earlier Workspace of the same name do not count.
func TestAnEarlierWorkspacesHeartbeats(t *testing.T) {
	s := newStage(t, workspace("RUNNING", noon))
	s.passAfter(4 * time.Minute)
	s.beat()
	s.passAfter(time.Minute)
	s.desires("RUNNING", 0, 1)
	again := workspace("RUNNING", noon)
	again.UID, again.CreationTimestamp = "2", metav1.NewTime(s.clock.Now())
	s.must(s.Delete(t.Context(), s.read()))
	status := again.Status
	s.must(s.Create(t.Context(), again))
	again.Status = status
	s.must(s.Status().Update(t.Context(), again))
	s.passAfter(0)
	s.desires("STANDBY", 1, 2)
}

// A failed read or write is retried by another pass; nothing is half done.
func TestWhatFails(t *testing.T) {
	resource := schema.GroupResource{Resource: "workspaces"}
	for name, failure := range map[string]error{
		"409": apierrors.NewConflict(resource, "ann", errors.New("changed")),
		"422": apierrors.NewInvalid(schema.GroupKind{}, "ann", nil),
		"404": apierrors.NewNotFound(resource, "ann"),
	} {
		s := newStage(t, workspace("RUNNING", noon))
		s.failPatch = failure
		if result := s.passAfter(time.Hour); result.RequeueAfter != retry {
			t.Errorf("%s: %v", name, result)
		}
		s.failPatch = nil
		s.passAfter(retry)
		s.desires("STANDBY", 2, 2)
	}
	s := newStage(t, workspace("RUNNING", noon.Add(-time.Hour)))
	request := reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "team", Name: "ann"}}
	s.failLease = errors.New("no answer")
	if _, err := s.reconciler.Reconcile(t.Context(), request); !errors.Is(err, s.failLease) {
		t.Errorf("without an answer about the Lease: %v", err)
	}
	s.desires("RUNNING", 0, 1)
	s.failLease, s.failPatch = nil, errors.New("refused")
	if _, err := s.reconciler.Reconcile(t.Context(), request); !errors.Is(err, s.failPatch) {
		t.Errorf("when the write fails: %v", err)
	}
	s.must(s.Delete(t.Context(), s.read()))
	s.passAfter(0)
	if len(s.reconciler.memory.leases) > 0 {
		t.Error("a Workspace that is gone is remembered")
	}
}
