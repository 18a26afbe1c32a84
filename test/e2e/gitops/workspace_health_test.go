package gitops

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
)

// workspace is a Workspace with the controller's conditions.
func workspace(t *testing.T, ready, stalled metav1.ConditionStatus, reason string, pause bool) map[string]any {
	t.Helper()
	ws := &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	ws.Spec.Pause = pause
	ws.Status.ObservedGeneration = 3
	ws.Status.Conditions = []metav1.Condition{
		{Type: v1alpha1.ConditionReady, Status: ready, Reason: reason, Message: "the reason is " + reason},
		{Type: v1alpha1.ConditionStalled, Status: stalled, Reason: reason, Message: "stalled: " + reason},
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(ws)
	harness.Must(t, err)
	return toJSON(t, object)
}

// reasonsOf returns the reasons of conditions in a file of apis.
func reasonsOf(t *testing.T, file string) (reasons []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("apis", file))
	harness.Must(t, err)
	for _, match := range regexp.MustCompile(`Reason\w+ += "(\w+)"`).FindAllSubmatch(source, -1) {
		reasons = append(reasons, string(match[1]))
	}
	if len(reasons) == 0 {
		t.Fatal("found no reasons")
	}
	return reasons
}

// needsSomebody are the reasons of a waiting Workspace that only a user can resolve.
var needsSomebody = []string{
	v1alpha1.ReasonArchiveNotConfigured, v1alpha1.ReasonRestartBackoff, v1alpha1.ReasonArchiveNotFound, v1alpha1.ReasonArchiveForeign, v1alpha1.ReasonKeptArchiveLost,
}

// A Workspace that has failed permanently is Degraded, even if it is paused. A paused one is Suspended, a ready one
// Healthy, and a waiting one Progressing, or Degraded if it would wait forever.
func TestHealthOfWorkspaces(t *testing.T) {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	for _, reason := range reasonsOf(t, "v1alpha1/workspace_conditions.go") {
		waits := "Progressing"
		if slices.Contains(needsSomebody, reason) {
			waits = "Degraded"
		}
		message, stalled := "the reason is "+reason, "stalled: "+reason
		for _, tc := range []struct {
			object any
			want   health
		}{
			{workspace(t, yes, no, reason, false), health{"Healthy", message}},
			{workspace(t, no, no, reason, false), health{waits, message}},
			{workspace(t, metav1.ConditionUnknown, no, reason, false), health{waits, message}},
			{workspace(t, no, no, reason, true), health{"Suspended", "Paused: " + message}},
			{workspace(t, yes, no, reason, true), health{"Suspended", "Paused: " + message}},
			{workspace(t, no, yes, reason, false), health{"Degraded", stalled}},
			{workspace(t, no, yes, reason, true), health{"Degraded", stalled}},
		} {
			same(t, runHealth(t, workspaceScripts, tc.object), tc.want)
		}
	}
}
