package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
)

// mia has a home on the volume if it has a UID, and in the archive if there is a key.
func mia(volume, archive string) v1alpha1.Workspace {
	ws := v1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Namespace: "studio", Name: "mia"},
		Spec:       v1alpha1.WorkspaceSpec{DesiredState: v1alpha1.DesiredRunning},
		Status:     v1alpha1.WorkspaceStatus{DisplayState: "STANDBY", ArchiveKey: archive, Operation: &v1alpha1.Operation{Type: v1alpha1.OperationStarting}},
	}
	if volume != "" {
		ws.Status.Volume = &v1alpha1.VolumeStatus{UID: volume, Content: v1alpha1.ContentEmpty}
	}
	return ws
}

func TestPrintMoves_ReportsEachStateOnce(t *testing.T) {
	moved, homes := map[string]string{}, homes{dir: "run"}
	say := func(workspaces ...v1alpha1.Workspace) string {
		var out strings.Builder
		printMoves(&out, workspaces, moved, homes, noon)
		return out.String()
	}
	want := "12:00:00  workspace studio/mia is STANDBY, desired RUNNING: operation STARTING, ready Unknown, home run/homes/studio/mia\n"
	if got := say(mia("1", "")); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if again := say(mia("1", "")); again != "" {
		t.Errorf("said again: %q", again)
	}
	if gone := say(); gone != "12:00:00  workspace studio/mia deleted\n" {
		t.Errorf("after the deletion: %q", gone)
	}
	if table := renderWorkspaces([]v1alpha1.Workspace{mia("1", "")}, homes); !strings.Contains(table, "studio/mia   RUNNING   STANDBY   STARTING") {
		t.Errorf("the table is\n%s", table)
	}
}

// Each home has one link, which follows it from the volume into the archive and back.
func TestHomesAreFoundUnderTheirNames(t *testing.T) {
	h := homes{dir: t.TempDir()}
	for _, c := range []struct {
		name       string
		workspaces []v1alpha1.Workspace
		want       map[string]string
	}{
		{"a volume", []v1alpha1.Workspace{mia("1", "")}, map[string]string{"studio/mia": "../../volumes/1/home"}},
		{"and its archive", []v1alpha1.Workspace{mia("1", "archives/a/b/home.tar.gz")}, map[string]string{"studio/mia": "../../volumes/1/home"}},
		{"the archive alone", []v1alpha1.Workspace{mia("", "archives/a/b/home.tar.gz")},
			map[string]string{"studio/mia.tar.gz": "../../store/homes/archives/a/b/home.tar.gz"}},
		{"another volume", []v1alpha1.Workspace{mia("2", "archives/a/b/home.tar.gz")}, map[string]string{"studio/mia": "../../volumes/2/home"}},
		{"no home", []v1alpha1.Workspace{mia("", "")}, map[string]string{}},
	} {
		harness.Must(t, h.link(c.workspaces))
		links, _ := filepath.Glob(filepath.Join(h.dir, "homes", "*", "*"))
		got := map[string]string{}
		for _, link := range links {
			target, err := os.Readlink(link)
			harness.Must(t, err)
			name, _ := filepath.Rel(filepath.Join(h.dir, "homes"), link)
			got[name] = target
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// A file next to the links, or in place of one, stays, and the other homes have links.
func TestFilesOfOthersStay(t *testing.T) {
	h := homes{dir: t.TempDir()}
	theirs := filepath.Join(h.dir, "homes", "studio", "mia.tar.gz")
	harness.Must(t, errors.Join(os.MkdirAll(filepath.Dir(theirs), 0o700), os.WriteFile(theirs, []byte("a copy"), 0o600)))
	archived, running := mia("", "archives/a/b/home.tar.gz"), mia("1", "")
	running.Name = "ann"
	for range 2 {
		harness.Must(t, h.link([]v1alpha1.Workspace{archived, running}))
	}
	copied, err := os.ReadFile(theirs)
	if target, also := os.Readlink(filepath.Join(h.dir, "homes", "studio", "ann")); err != nil || also != nil || string(copied) != "a copy" || target == "" {
		t.Errorf("%q, %q: %v, %v", copied, target, err, also)
	}
}
