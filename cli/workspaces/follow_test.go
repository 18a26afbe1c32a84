package workspaces_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/cli/workspaces"
	"kyklos.io/kyklos/internal/scheme"
)

// A Workspace is followed to its state, over watches that end, are refused for a moment, or begin in the past.
func TestFollow(t *testing.T) {
	cluster := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(ann()).WithStatusSubresource(&v1alpha1.Workspace{}).Build()
	watches := 0
	flaky := interceptor.NewClient(cluster, interceptor.Funcs{
		Watch: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
			watches++
			stream, err := c.Watch(ctx, list, options...)
			switch watches {
			case 1:
				return nil, errors.Join(err, errors.New("connection refused"))
			case 2:
				stream.Stop()
			}
			return stream, err
		},
	})
	c := workspaces.Client{WithWatch: flaky, Clock: clock.RealClock{}}
	ws, err := c.Get(t.Context(), client.ObjectKeyFromObject(ann()))
	if err == nil {
		ws, err = c.Desire(t.Context(), ws, v1alpha1.DesiredStandby)
	}
	if err != nil || ws.Spec.DesiredState != v1alpha1.DesiredStandby || ws.ManagedFields != nil && ws.ManagedFields[0].Manager != workspaces.FieldManager {
		t.Fatalf("%+v: %v", ws, err)
	}
	var shown []string
	reached, err := c.Follow(t.Context(), ws, v1alpha1.DesiredStandby, func(v workspaces.View) {
		if len(shown) == 0 || shown[len(shown)-1] != v.Step {
			shown = append(shown, v.Step)
			update := ws.DeepCopy()
			if err := cluster.Get(t.Context(), client.ObjectKeyFromObject(ws), update); err != nil {
				t.Error(err)
			}
			update.Status.ObservedGeneration = update.Generation
			if v.Step == "WAITING" {
				update.Status.Operation = &v1alpha1.Operation{Type: v1alpha1.OperationStopping}
			} else {
				update.Status.Phase, update.Status.DisplayState, update.Status.Operation = "STANDBY", "STANDBY", nil
			}
			if err := cluster.Status().Update(t.Context(), update); err != nil {
				t.Error(err)
			}
		}
	})
	if got := strings.Join(shown, " "); err != nil || reached.Status.DisplayState != "STANDBY" || !strings.HasSuffix(got, "STOPPING") {
		t.Errorf("%s: %+v, %v", got, reached.Status, err)
	}
	if watches < 3 {
		t.Errorf("%d watches", watches)
	}
}

// What does not pass ends the wait: the Workspace is gone or another one, the user may not watch it, or the time is over.
func TestFollowEnds(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "workspaces"}, "ann", errors.New("no rights"))
	slow := ann(during(v1alpha1.OperationNone, v1alpha1.ReasonTimedOut, "it is slow"))
	slow.Spec.DesiredState, slow.Status.Phase = v1alpha1.DesiredStandby, "RUNNING"
	for name, c := range map[string]struct {
		stored *v1alpha1.Workspace
		watch  error
		ended  bool
		want   string
	}{
		"gone":      {nil, nil, false, "workspace team/ann was deleted"},
		"another":   {ann(func(ws *v1alpha1.Workspace) { ws.UID = "u2" }), nil, false, "was deleted and created again"},
		"forbidden": {ann(), forbidden, false, "no rights"},
		"too late":  {slow, nil, true, "workspace team/ann is not STANDBY in time, which it may still become: it is slow"},
	} {
		builder := fake.NewClientBuilder().WithScheme(scheme.New()).WithInterceptorFuncs(interceptor.Funcs{
			Watch: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
				if c.watch != nil {
					return nil, c.watch
				}
				return inner.Watch(ctx, list, options...)
			},
		})
		if c.stored != nil {
			builder.WithObjects(c.stored)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		if c.ended {
			cancel()
		}
		_, err := (workspaces.Client{WithWatch: builder.Build(), Clock: clock.RealClock{}}).Follow(ctx, slow.DeepCopy(), v1alpha1.DesiredStandby, func(workspaces.View) {})
		cancel()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// W108: what takes long is explained, even if it goes as it should, and so is that nobody looks at it.
func TestFollowExplains(t *testing.T) {
	unseen := ann(func(ws *v1alpha1.Workspace) { ws.Generation = 4 })
	for name, c := range map[string]struct {
		stored *v1alpha1.Workspace
		want   []string
	}{
		"starting": {
			ann(during(v1alpha1.OperationStarting, v1alpha1.ReasonPodNotReady, "Pod ws-ann is not ready.")),
			[]string{"STARTING", "STARTING PodNotReady: Pod ws-ann is not ready."},
		},
		"unseen": {unseen, []string{"WAITING", "WAITING Kyklos has not looked at it yet: its manager may not be running, or not serve namespace team"}},
	} {
		cluster := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(c.stored).WithStatusSubresource(&v1alpha1.Workspace{}).Build()
		ctx, cancel := context.WithCancel(t.Context())
		timer := clocktesting.NewFakeClock(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC))
		var shown []string
		_, err := (workspaces.Client{WithWatch: cluster, Clock: timer}).Follow(ctx, c.stored, v1alpha1.DesiredRunning, func(v workspaces.View) {
			if said := strings.TrimSpace(v.Step + " " + v.Why); len(shown) == 0 || shown[len(shown)-1] != said {
				shown = append(shown, said)
			}
			if timer.Step(time.Second); len(shown) == len(c.want) {
				cancel()
			}
		})
		cancel()
		if diff := cmp.Diff(c.want, shown); diff != "" || err == nil {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

// W108: a Workspace that is not to run any more ends what was opened: it was stopped, is being deleted, or is gone.
func TestStopped(t *testing.T) {
	for name, c := range map[string]struct {
		change func(client.Client, *v1alpha1.Workspace) error
		fails  string
	}{
		"stopped": {func(cluster client.Client, ws *v1alpha1.Workspace) error {
			ws.Spec.DesiredState, ws.Generation = v1alpha1.DesiredStandby, 4
			return cluster.Update(t.Context(), ws)
		}, ""},
		"deleted": {func(cluster client.Client, ws *v1alpha1.Workspace) error { return cluster.Delete(t.Context(), ws) }, "was deleted"},
	} {
		cluster := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(ann()).Build()
		began := make(chan error, 1)
		watched := interceptor.NewClient(cluster, interceptor.Funcs{
			Watch: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) (watch.Interface, error) {
				stream, err := inner.Watch(ctx, list, options...)
				now := &v1alpha1.Workspace{}
				began <- errors.Join(err, inner.Get(ctx, client.ObjectKeyFromObject(ann()), now), c.change(inner, now))
				return stream, err
			},
		})
		err := (workspaces.Client{WithWatch: watched, Clock: clock.RealClock{}}).Stopped(t.Context(), ann())
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if err := <-began; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cluster := fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(ann()).Build()
	if err := (workspaces.Client{WithWatch: cluster, Clock: clock.RealClock{}}).Stopped(ctx, ann()); err != nil {
		t.Errorf("at the end of the command: %v", err)
	}
}
