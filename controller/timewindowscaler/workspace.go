package timewindowscaler

import (
	"context"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/targetkind"
)

// +kubebuilder:rbac:groups=kyklos.io,resources=workspaces,verbs=get;list;watch;patch

// ScheduleManager is the field manager of what a schedule writes into a Workspace: spec.desiredState has
// several writers, and managedFields tell which of them decided last.
const ScheduleManager = "kyklos-schedule"

// conditionReady is the Workspace's own condition: it is in its desired state.
const conditionReady = "Ready"

// session is what matters of a Workspace beyond any other target.
type session struct {
	desired lifecycle.State
	// settled: the Workspace says that it is as its present spec wants it.
	settled bool
}

// asksFor: 0 asks for less than RUNNING, any other count for RUNNING.
func (s *session) asksFor(replicas int32) bool {
	return (s.desired == lifecycle.Running) == (replicas > 0)
}

func isWorkspace(tws *v1beta1.TimeWindowScaler) bool {
	return targetkind.Of(tws.Spec.TargetRef) == targetkind.Workspace.GroupVersionKind
}

// workspaceTarget takes from a Workspace what matters. It counts as one replica while it runs and is ready.
func workspaceTarget(ws *v1alpha1.Workspace) *target {
	found := &session{
		desired: lifecycle.State(ws.Spec.DesiredState),
		settled: meta.IsStatusConditionTrue(ws.Status.Conditions, conditionReady) && ws.Status.ObservedGeneration >= ws.Generation,
	}
	t := &target{uid: ws.UID, resourceVersion: ws.ResourceVersion, session: found}
	if found.desired == lifecycle.Running {
		t.specReplicas = 1
	}
	if ws.Status.Phase == v1alpha1.Phase(lifecycle.Running) && meta.IsStatusConditionTrue(ws.Status.Conditions, conditionReady) {
		t.observedReplicas, t.readyReplicas = 1, 1
	}
	return t
}

// workspaces deals with Workspaces. They are watched as further kinds are, and each change of one costs one
// GET, so that it does not matter whether this manager, or any, serves them.
type workspaces struct{ scalables }

func (w workspaces) read(ctx context.Context, key types.NamespacedName, mem *recollection) (*target, error) {
	return w.readWatched(ctx, key, mem, func(*metav1.PartialObjectMetadata) (*target, error) {
		var object *unstructured.Unstructured
		err := w.ask(ctx, func(ctx context.Context) (err error) {
			object, err = w.requests(key).Get(ctx, key.Name, metav1.GetOptions{})
			return err
		})
		switch {
		case apierrors.IsNotFound(err):
			return nil, w.lost(ctx)
		case apierrors.IsForbidden(err):
			return nil, &targetkind.ForbiddenError{Kind: w.kind, Err: err}
		case err != nil:
			return nil, err
		}
		return readWorkspace(object)
	})
}

// write asks for RUNNING, or at 0 for STANDBY. The resourceVersion makes sure that nobody has asked for
// something else since it was decided.
func (w workspaces) write(ctx context.Context, key types.NamespacedName, seen *target, replicas int32) (*target, error) {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": seen.resourceVersion},
		"spec":     map[string]any{"desiredState": stateOf(replicas)},
	})
	if err != nil {
		return nil, fmt.Errorf("encode the patch: %w", err)
	}
	var object *unstructured.Unstructured
	err = w.ask(ctx, func(ctx context.Context) (err error) {
		object, err = w.requests(key).Patch(ctx, key.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: ScheduleManager})
		return err
	})
	if err != nil {
		return nil, err
	}
	return readWorkspace(object)
}

// stateOf is the state that a count asks for: never PENDING, archives are the idle timer's.
func stateOf(replicas int32) lifecycle.State {
	if replicas > 0 {
		return lifecycle.Running
	}
	return lifecycle.Standby
}

func readWorkspace(object *unstructured.Unstructured) (*target, error) {
	ws := &v1alpha1.Workspace{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, ws); err != nil {
		return nil, fmt.Errorf("read Workspace %s: %w", object.GetName(), err)
	}
	return workspaceTarget(ws), nil
}
