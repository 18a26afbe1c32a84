package workspaceidle

import (
	"context"
	"errors"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
