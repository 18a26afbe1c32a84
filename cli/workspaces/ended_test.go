package workspaces_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/workspaces"
)

// W108: who opened a Workspace learns who stopped it, why, and how it continues.
func TestEnded(t *testing.T) {
	by := func(manager string) func(*v1alpha1.Workspace) {
		return func(ws *v1alpha1.Workspace) {
			ws.Spec.DesiredState, ws.Spec.StandbyTTLSeconds = v1alpha1.DesiredStandby, 300
			ws.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:desiredState":{}}}`)}}
		}
	}
	hours := v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "hours"},
		Spec:       v1beta1.TimeWindowScalerSpec{TargetRef: v1beta1.TargetRef{APIVersion: "kyklos.io/v1alpha1", Kind: "Workspace", Name: "ann"}},
	}
	const again = "; kyklos workspace open ann -n team starts it again"
	for name, c := range map[string]struct {
		change    func(*v1alpha1.Workspace)
		schedules []v1beta1.TimeWindowScaler
		want      string
	}{
		"it runs": {nil, nil, ""},
		"idle": {
			by("kyklos-ttl"), nil,
			"workspace team/ann was stopped: its idle timer found that nobody had used it for 300 seconds (spec.standbyTTLSeconds), and set spec.desiredState to STANDBY" + again,
		},
		"a schedule":           {by("kyklos-schedule"), []v1beta1.TimeWindowScaler{hours}, "workspace team/ann was stopped: TimeWindowScaler hours set spec.desiredState to STANDBY" + again},
		"one of two schedules": {by("kyklos-schedule"), []v1beta1.TimeWindowScaler{hours, hours}, "workspace team/ann was stopped: its schedule set spec.desiredState to STANDBY" + again},
		"a person":             {by("kubectl-patch"), nil, `workspace team/ann was stopped: the field manager "kubectl-patch" set spec.desiredState to STANDBY` + again},
		"archived": {
			func(ws *v1alpha1.Workspace) {
				by(workspaces.FieldManager)(ws)
				ws.Spec.DesiredState = v1alpha1.DesiredPending
			}, nil,
			"workspace team/ann was stopped, and its home is archived: another kyklos workspace command set spec.desiredState to PENDING; " +
				"kyklos workspace open ann -n team restores its home and starts it again",
		},
		"deleted": {func(ws *v1alpha1.Workspace) { ws.DeletionTimestamp = &metav1.Time{} }, nil, "workspace team/ann is being deleted"},
	} {
		ws := ann()
		if c.change != nil {
			c.change(ws)
		}
		got := ""
		if err := workspaces.Ended(ws, c.schedules); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}
