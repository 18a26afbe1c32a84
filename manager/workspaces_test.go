package manager

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/controller/workspace"
)

func TestWorkspaceFlags(t *testing.T) {
	compare := func(want workspace.Options, got workspace.Options) {
		t.Helper()
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(workspace.Options{}, "Clock")); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	// The defaults of the limits (W39, W50).
	compare(workspace.Options{Workers: 10, Limits: workspace.Limits{PerOwner: 2, PerNamespace: 20, All: 100, Movers: 10}}, parse(t).workspaces.options)
	got := parse(t, "--workspace-workers=1", "--workspace-limit=2", "--workspace-limit-per-owner=3", "--workspace-limit-per-namespace=5", "--mover-limit=4", "--mover-image=kyklos:1", "--archive-folders")
	compare(workspace.Options{
		Workers: 1, Limits: workspace.Limits{PerOwner: 3, PerNamespace: 5, All: 2, Movers: 4}, MoverImage: "kyklos:1", Folders: true,
	}, got.workspaces.options)
}

func TestWorkspaceFlagsAreChecked(t *testing.T) {
	for _, name := range []string{"workspace-workers", "workspace-limit", "workspace-limit-per-owner", "workspace-limit-per-namespace", "mover-limit"} {
		options := parse(t, "--"+name+"=0")
		if err, want := options.validate(), "--"+name+": must be at least 1, not 0"; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		options = parse(t, "--"+name+"=0", "--workspaces=false")
		if err := options.validate(); err != nil {
			t.Errorf("without workspaces: %v", err)
		}
	}
}

// A manager without Workspaces caches no Pods and Jobs; one with Workspaces caches only those with Kyklos'
// label.
func TestWorkspaceCaches(t *testing.T) {
	for args, want := range map[string]bool{"--workspaces": true, "--workspaces=false": false} {
		options := parse(t, args)
		found := 0
		for object, by := range options.cacheOptions().ByObject {
			switch object.(type) {
			case *corev1.Pod, *corev1.PersistentVolumeClaim, *batchv1.Job:
				found++
				if got := by.Label.String(); got != "app.kubernetes.io/managed-by=kyklos" {
					t.Errorf("%T are restricted to %q", object, got)
				}
			}
		}
		if found != 3 && want || found != 0 && !want {
			t.Errorf("%s: %d of 3 kinds are cached", args, found)
		}
	}
}
