package target

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/targetkind"
)

// Workspaces have a desired state instead of a count. Users, idle timers and the schedule all set it. So the
// schedule sets it once at each of its edges and leaves it alone in between.
//
// They are watched as other custom resources are, and each change costs one GET. Their permissions are in the role for
// Workspaces, which may be left out: see targetkind.Scope.

// ScheduleManager is the field manager of what a schedule writes into a Workspace: spec.desiredState has
// several writers, and managedFields show which of them decided last.
const ScheduleManager = "kyklos-schedule"

// conditionReady is the Workspace's own condition: it is in its desired state.
const conditionReady = "Ready"

// Workspace is a target with a desired state. It counts as one replica while it runs and is ready.
type Workspace struct {
	Common
	State lifecycle.State // the desired one
	// Settled: the Workspace reports that it is as its current spec asks.
	Settled bool
	// InUse: its Pod tells that somebody uses it.
	InUse   bool
	Created time.Time
	// LastUse is when it was last used, by its status; zero if it never was.
	LastUse time.Time
	// StartedByOthers is when somebody other than a schedule set RUNNING; zero if that is not desired, or a schedule set it.
	StartedByOthers time.Time
}

// AsksFor implements Target. 0 asks for less than RUNNING, any other count for RUNNING.
func (w *Workspace) AsksFor(want Desired) bool {
	return (w.State == lifecycle.Running) == (want.Replicas > 0)
}

// Has implements Target.
func (w *Workspace) Has(want Desired) bool { return w.AsksFor(want) && w.Settled }

// Distance implements Target.
func (w *Workspace) Distance(want Desired, _ bool) int32 {
	return apart(w.Observed, min(want.Replicas, 1))
}

// Describe implements Target.
func (w *Workspace) Describe(want Desired) Description {
	state, action := stateOf(want), "Start"
	if want.Replicas == 0 {
		action = "Stop"
	}
	return Description{
		Reached:  fmt.Sprintf("is %s as desired", state),
		Pending:  fmt.Sprintf("is not %s yet, see its own conditions", state),
		Stays:    fmt.Sprintf("stays in %s", w.State),
		Now:      fmt.Sprintf("is set to %s", w.State),
		Changing: fmt.Sprintf("Setting the target to %s", state),
		Changed:  fmt.Sprintf("Workspace set from %s to %s", w.State, state),
		Action:   action, Up: want.Replicas > 0,
		Current: string(w.State), Desired: string(state),
	}
}

// ManagedFields implements Target.
func (w *Workspace) ManagedFields() [][]string { return [][]string{targetkind.DesiredStateField} }

type workspaces struct{}

func (workspaces) Path() (schema.GroupVersionKind, []string) {
	return targetkind.Workspace.GroupVersionKind, nil
}

// Write sets RUNNING, or at 0 STANDBY. The resourceVersion makes sure that no other state was set since the
// decision.
func (k workspaces) Write(ctx context.Context, c *Clients, key types.NamespacedName, seen Target, want Desired) (Target, error) {
	return patchWatched(ctx, c, k, key, seen, map[string]any{"desiredState": stateOf(want)}, ScheduleManager)
}

// stateOf is the state that a count asks for: never PENDING, which is for idle timers to set.
func stateOf(want Desired) lifecycle.State {
	if want.Replicas > 0 {
		return lifecycle.Running
	}
	return lifecycle.Standby
}

func (workspaces) Fetched(_ *metav1.PartialObjectMetadata, object *unstructured.Unstructured, err error) (Target, error) {
	if err != nil {
		return nil, err
	}
	ws := &v1alpha1.Workspace{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, ws); err != nil {
		return nil, fmt.Errorf("read Workspace %s: %w", object.GetName(), err)
	}
	ready := meta.IsStatusConditionTrue(ws.Status.Conditions, conditionReady)
	w := &Workspace{
		Common:  Common{UID: ws.UID, ResourceVersion: ws.ResourceVersion},
		State:   lifecycle.State(ws.Spec.DesiredState),
		Settled: ready && ws.Status.ObservedGeneration >= ws.Generation,
		InUse:   meta.IsStatusConditionTrue(ws.Status.Conditions, v1alpha1.ConditionInUse),
		Created: ws.CreationTimestamp.Time,
		LastUse: schedule.LastUse(&ws.Status), StartedByOthers: startedByOthers(ws),
	}
	if w.State == lifecycle.Running {
		w.Spec = 1
	}
	if ready && ws.Status.Phase == v1alpha1.Phase(lifecycle.Running) {
		w.Observed, w.Ready = 1, 1
	}
	return w, nil
}

// Limit: a Workspace runs or is stopped.
func (workspaces) Limit(replicas int32) int32 { return min(replicas, 1) }

func (workspaces) Decide(in Input) Decision {
	d := Decision{Applied: in.Scaler.Status.Applied.DeepCopy()}
	if in.Target == nil {
		return d
	}
	found, last := in.Target.(*Workspace), lastAsked(in)
	edge := lifecycle.EdgeInput{Replicas: in.Desired.Replicas, Desired: found.State, InUse: found.InUse || in.Now.Before(in.UsedUntil)}
	if last != nil {
		edge.Applied = lifecycle.Applied{State: lifecycle.State(last.State), Edge: edgeOf(last)}
	}
	edge.Edge = currentEdge(in, edge.Applied.Edge, edge.Applied.State == stateOf(in.Desired))
	edge.Enforce = schedule.DriftPolicy(&in.Scaler.Spec) == v1beta1.DriftEnforce
	if how := in.Scaler.Spec.Workspace; how != nil {
		edge.StopWhileInUse = how.StopWhileInUse
	}
	kept := staysArchived(in, found)
	edge.KeepArchived = kept != ""
	decided := lifecycle.DecideEdge(edge)
	if d.Left = !decided.Write && found.State != stateOf(in.Desired); d.Left {
		d.Archived = kept
	}
	d.Edge = edge.Edge
	if d.Skipped = decided.Write && in.Scaler.Spec.Pause; !in.Scaler.Spec.Pause {
		d.WaitsForIdle = decided.Waits
		d.Write, d.Drift = decided.Write, decided.Write && decided.Applied == edge.Applied
		if decided.Applied != edge.Applied { // which a stop that waits is not yet
			d.Stops = decided.Write && found.State == lifecycle.Running && !edge.StopWhileInUse
			d.Applied, d.ArchivedNow = appliedState(in, decided.Applied, last), d.Archived != ""
		}
	}
	noteStart(d.Applied, found, in.Now)
	return d
}

func (workspaces) GraceMessages(_, _ Desired) (before, instead string) {
	return "the Workspace is stopped", "the Workspace is not stopped"
}

// Warning names the first count above 1.
func (workspaces) Warning(spec *v1beta1.TimeWindowScalerSpec) string {
	var first string
	var above int
	check := func(path *field.Path, written intstr.IntOrString) {
		if count, err := schedule.Count(written, spec.BaselineReplicas); err == nil && count > 1 {
			above++
			first = cmp.Or(first, fmt.Sprintf("%s: a Workspace either runs or is stopped, so %d means the same as 1", path, count))
		}
	}
	path := field.NewPath("spec")
	check(path.Child("defaultReplicas"), spec.DefaultReplicas)
	for i := range spec.Windows {
		check(path.Child("windows").Index(i).Child("replicas"), spec.Windows[i].Replicas)
	}
	if above > 1 {
		return fmt.Sprintf("%s; %d counts in all", first, above)
	}
	return first
}
