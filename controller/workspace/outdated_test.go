package workspace

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"kyklos.io/kyklos/apis/v1alpha1"
)

func withLabel(name string) *v1alpha1.PodTemplate {
	return &v1alpha1.PodTemplate{Metadata: v1alpha1.PodTemplateMetadata{Labels: map[string]string{name: "a"}}}
}

// A change of the Pod's part of the spec restarts no Pod: it applies from the next start, and until then
// PodReady reports it.
func TestAChangedPodWaitsForTheNextStart(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	w.desire(v1alpha1.DesiredRunning)
	w.converge()
	podReady := func() string {
		w.Helper()
		return meta.FindStatusCondition(w.workspace().Status.Conditions, v1alpha1.ConditionPodReady).Message
	}
	fresh := podReady()
	for _, change := range []struct {
		edit  func(*v1alpha1.WorkspaceSpec)
		waits bool
	}{
		{func(spec *v1alpha1.WorkspaceSpec) { spec.StandbyTTLSeconds++ }, false},
		{func(spec *v1alpha1.WorkspaceSpec) { spec.Image = "registry.example.com/ide:2" }, true},
		{func(spec *v1alpha1.WorkspaceSpec) { spec.Image = "ide:1" }, false},
		{func(spec *v1alpha1.WorkspaceSpec) { spec.Template = withLabel("team") }, true},
	} {
		w.change(func(ws *v1alpha1.Workspace) { change.edit(&ws.Spec) })
		w.converge()
		w.expectState("RUNNING")
		if got := podReady(); strings.Contains(got, "earlier spec") != change.waits || !strings.HasPrefix(got, fresh) {
			t.Errorf("PodReady says %q", got)
		}
	}
	for _, state := range []v1alpha1.DesiredState{v1alpha1.DesiredStandby, v1alpha1.DesiredRunning} {
		w.desire(state)
		w.converge()
	}
	if got := podReady(); got != fresh {
		t.Errorf("after the next start, PodReady says %q", got)
	}
}
