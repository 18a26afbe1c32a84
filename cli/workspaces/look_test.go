package workspaces_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/workspaces"
)

// ann is a Workspace that runs, as is desired.
func ann(change ...func(*v1alpha1.Workspace)) *v1alpha1.Workspace {
	ws := &v1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ann", UID: "u1", Generation: 3},
		Spec:       v1alpha1.WorkspaceSpec{DesiredState: v1alpha1.DesiredRunning},
		Status: v1alpha1.WorkspaceStatus{
			ObservedGeneration: 3, Phase: "RUNNING", DisplayState: "RUNNING", Operation: &v1alpha1.Operation{Type: v1alpha1.OperationNone},
		},
	}
	for _, c := range change {
		c(ws)
	}
	return ws
}

func during(operation v1alpha1.OperationType, reason, message string) func(*v1alpha1.Workspace) {
	return func(ws *v1alpha1.Workspace) {
		ws.Status.Phase, ws.Status.DisplayState, ws.Status.Operation = "STANDBY", "STANDBY", &v1alpha1.Operation{Type: operation}
		ws.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: reason, Message: message}}
	}
}

// W86: what is shown of each situation on the way to RUNNING, and which ones have no end of their own.
func TestLook(t *testing.T) {
	owned := []metav1.ManagedFieldsEntry{
		{Manager: "kyklos-schedule", Time: ptr.To(metav1.Unix(20, 0)), FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:desiredState":{}}}`)},
		{Manager: "kubectl", Time: ptr.To(metav1.Unix(30, 0)), FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:image":{}}}`)},
		{Manager: "early", Time: ptr.To(metav1.Unix(10, 0)), FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:desiredState":{}}}`)},
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.Workspace)
		view   workspaces.View
		fails  string
	}{
		"reached":     {nil, workspaces.View{Reached: true, Step: "RUNNING"}, ""},
		"not seen":    {func(ws *v1alpha1.Workspace) { ws.Generation = 4 }, workspaces.View{Step: "WAITING"}, ""},
		"starting":    {during(v1alpha1.OperationStarting, v1alpha1.ReasonPodNotReady, "Pod ws-ann is not ready."), workspaces.View{Step: "STARTING"}, ""},
		"its failure": {during(v1alpha1.OperationStarting, v1alpha1.ReasonPodEnded, "Pod ws-ann ended."), workspaces.View{Step: "STARTING", Text: "Pod ws-ann ended."}, ""},
		"a limit":     {during(v1alpha1.OperationNone, v1alpha1.ReasonOwnerLimitExceeded, "Owner ann has two."), workspaces.View{Step: "WAITING", Text: "Owner ann has two."}, ""},
		"a mover": {func(ws *v1alpha1.Workspace) {
			during(v1alpha1.OperationRestoring, v1alpha1.ReasonWorking, "Restoring the home.")(ws)
			ws.Status.Operation.Progress, ws.Status.Operation.ProgressPercent = "1 of 4", 25
		}, workspaces.View{Step: "RESTORING", Text: "1 of 4", Percent: 25}, ""},
		"no status": {func(ws *v1alpha1.Workspace) { ws.Status = v1alpha1.WorkspaceStatus{} }, workspaces.View{Step: "WAITING"}, ""},
		"an error": {func(ws *v1alpha1.Workspace) {
			during(v1alpha1.OperationNone, v1alpha1.ReasonVolumeLost, "The volume is gone.")(ws)
			ws.Status.Phase = v1alpha1.PhaseError
		}, workspaces.View{}, "workspace team/ann is in ERROR: The volume is gone."},
		"paused": {func(ws *v1alpha1.Workspace) {
			during(v1alpha1.OperationNone, v1alpha1.ReasonPaused, "")(ws)
			ws.Spec.Pause = true
		}, workspaces.View{}, "spec.pause"},
		"paused, and there": {func(ws *v1alpha1.Workspace) { ws.Spec.Pause = true }, workspaces.View{Reached: true, Step: "RUNNING"}, ""},
		"deleted":           {func(ws *v1alpha1.Workspace) { ws.DeletionTimestamp = &metav1.Time{} }, workspaces.View{}, "is being deleted"},
		"a schedule": {func(ws *v1alpha1.Workspace) {
			ws.Spec.DesiredState, ws.ManagedFields = v1alpha1.DesiredStandby, owned
		}, workspaces.View{}, "is now to be STANDBY instead of RUNNING: its schedule set spec.desiredState"},
		"a person": {func(ws *v1alpha1.Workspace) {
			ws.Spec.DesiredState, ws.ManagedFields = v1alpha1.DesiredStandby, owned[2:]
		}, workspaces.View{}, `the field manager "early" set spec.desiredState`},
	} {
		ws := ann()
		if c.change != nil {
			c.change(ws)
		}
		view, err := workspaces.Look(ws, v1alpha1.DesiredRunning)
		if view != c.view || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %+v, %v", name, view, err)
		}
		unreached := workspaces.Unreached("")
		if err != nil && (!errors.As(err, &unreached) || unreached.ExitCode() != 1) {
			t.Errorf("%s: %v has no exit code", name, err)
		}
	}
}

// A person learns which schedules undo what they do, and when.
func TestSchedules(t *testing.T) {
	schedule := func(change ...func(*v1beta1.TimeWindowScaler)) v1beta1.TimeWindowScaler {
		tws := v1beta1.TimeWindowScaler{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "hours"},
			Spec: v1beta1.TimeWindowScalerSpec{
				TargetRef: v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ann"}, Timezone: "Asia/Kolkata",
			},
			Status: v1beta1.TimeWindowScalerStatus{
				EffectiveReplicas: ptr.To[int32](0),
				NextChange:        &v1beta1.NextChange{Time: metav1.NewTime(time.Date(2026, 11, 23, 3, 30, 0, 0, time.UTC)), Replicas: ptr.To[int32](1)},
			},
		}
		for _, c := range change {
			c(&tws)
		}
		return tws
	}
	enforces := func(tws *v1beta1.TimeWindowScaler) { tws.Spec.DriftPolicy = v1beta1.DriftEnforce }
	const also = "TimeWindowScaler hours also sets the state of Workspace ann"
	for name, c := range map[string]struct {
		schedule v1beta1.TimeWindowScaler
		want     string
	}{
		"its next change":        {schedule(), also + ": to RUNNING at Mon 2026-11-23 09:00 IST"},
		"none":                   {schedule(func(tws *v1beta1.TimeWindowScaler) { tws.Status.NextChange = nil }), also + ", and changes nothing within the next month"},
		"enforced":               {schedule(enforces), also + ", with spec.driftPolicy Enforce: it sets it back to STANDBY at once; pause it with spec.pause"},
		"enforced, and the same": {schedule(enforces, func(tws *v1beta1.TimeWindowScaler) { tws.Status.EffectiveReplicas = ptr.To[int32](1) }), also + ": to RUNNING at Mon 2026-11-23 09:00 IST"},
		"paused":                 {schedule(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.Pause = true }), ""},
		"of another":             {schedule(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.TargetRef.Name = "bob" }), ""},
		"of a Deployment":        {schedule(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.TargetRef.Kind = "Deployment" }), ""},
	} {
		if got := strings.Join(workspaces.Schedules(ann(), v1alpha1.DesiredRunning, []v1beta1.TimeWindowScaler{c.schedule}), "\n"); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
