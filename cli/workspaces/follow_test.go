package workspaces_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
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
