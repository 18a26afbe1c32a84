package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

const lost = v1alpha1.FailureReason(lifecycle.DataLost)

// W98: a volume whose home lies in its root is neither started nor archived, in whichever state it was adopted. Moved into the folder
// home, it runs.
func TestAnAdoptedVolumeWithoutAHome(t *testing.T) {
	t.Parallel()
	for _, state := range []v1alpha1.DesiredState{v1alpha1.DesiredRunning, v1alpha1.DesiredStandby, v1alpha1.DesiredPending} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			claim := w.byHand("work")
			w.applyNaming(state, claim)
			w.converge()
			for _, next := range []v1alpha1.DesiredState{v1alpha1.DesiredRunning, v1alpha1.DesiredPending, v1alpha1.DesiredRunning} {
				w.desire(next)
				w.converge()
				w.expectError(lost, lifecycle.CodeVolumeLost, "was adopted, but has no home", `in its root is "work"`, "Nothing is started on the volume", "folder home")
				if message := w.workspace().Status.Error.Message; strings.Contains(message, "workspace ran on it") {
					t.Errorf("it never ran: %s", message)
				}
			}
			at := func(name string) string { return filepath.Join(w.diskOf(claim), name) }
			if entries, err := os.ReadDir(at(".")); err != nil || len(entries) != 1 {
				t.Fatalf("the volume has %v, %v", entries, err)
			}
			w.update(os.Mkdir(at("home"), 0o755))
			w.update(os.Rename(at("work"), at("home/work")))
			w.annotate(objects.AnnotationRetry, "moved")
			w.expectRunning()
			if content := w.workspace().Status.Volume.Content; content != v1alpha1.ContentRestored {
				t.Errorf("once it ran, it holds %s", content)
			}
			w.archiveAndRestore()
		})
	}
}

func (w *world) archiveAndRestore() {
	w.Helper()
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.expectState("ARCHIVED")
	w.desire(v1alpha1.DesiredRunning)
	w.expectRunning()
}

// W98: what lies beside the home would be deleted with the volume. It is not archived until that is gone.
func TestFilesBesideTheHome(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	thesis := filepath.Join(w.diskOf(w.pvc()), "thesis.txt")
	w.update(os.WriteFile(thesis, nil, 0o600))
	w.desire(v1alpha1.DesiredPending)
	w.expectRetries(v1alpha1.FailureReason(lifecycle.ActionFailed), lifecycle.CodeFilesBesideHome, `"thesis.txt"`, "into the folder home")
	w.update(os.Remove(thesis))
	w.converge()
	w.expectState("ARCHIVED")
}

// W97: the command in the message works when it is shown, and at every other time.
func TestAVolumeIsAdoptedWheneverItIsChosen(t *testing.T) {
	t.Parallel()
	mismatch := v1alpha1.FailureReason(lifecycle.Mismatch)
	for name, reach := range map[string]func(*world){
		"while VolumeForeign is shown": func(w *world) {
			w.applyNaming(v1alpha1.DesiredRunning, nil)
			for range 200 {
				_ = w.pass()
				w.nodes()
				w.clock.SetTime(w.clock.Now().Add(time.Second))
				if e := w.workspace().Status.Error; e != nil && e.Code == string(lifecycle.CodeVolumeForeign) {
					return
				}
			}
			w.Fatalf("it does not find the claim: %+v", w.workspace().Status)
		},
		"in ERROR": func(w *world) {
			w.applyNaming(v1alpha1.DesiredRunning, nil)
			w.converge()
			w.expectError(mismatch, lifecycle.CodeVolumeForeign, "kyklos.io/adopt-volume=$(kubectl get pvc")
		},
		"in ERROR, where it was asked for in vain": func(w *world) {
			claim := w.pvc()
			claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "x", UID: "x", Controller: ptr.To(true)}}
			w.update(w.server.Update(w.Context(), claim))
			w.applyNaming(v1alpha1.DesiredRunning, claim)
			w.converge()
			w.expectError(mismatch, lifecycle.CodeVolumeForeign, "has no effect: PersistentVolumeClaim ws-home-home is controlled by another object")
			claim = w.pvc()
			claim.OwnerReferences = nil
			w.update(w.server.Update(w.Context(), claim))
		},
		"at once": func(w *world) { w.applyNaming(v1alpha1.DesiredRunning, w.pvc()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			claim := w.byHand("home/work")
			reach(w)
			w.annotate(objects.AnnotationAdopt, string(claim.UID))
			w.expectRunning()
			if uid := w.pvc().UID; uid != claim.UID {
				t.Errorf("the home is on %s, want %s", uid, claim.UID)
			}
			w.archiveAndRestore()
		})
	}
}

// W97: at PENDING, too, the volume is adopted, and then archived as desired.
func TestAVolumeIsAdoptedAtPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := w.byHand("home/work")
	w.applyNaming(v1alpha1.DesiredPending, nil)
	w.converge()
	w.expectState("PENDING")
	w.annotate(objects.AnnotationAdopt, string(claim.UID))
	w.converge()
	w.expectState("ARCHIVED")
	if events := strings.Join(w.newEvents(), "\n"); !strings.Contains(events, "VolumeAdopted Volume ws-home-home was chosen") {
		t.Errorf("events:\n%s", events)
	}
	w.desire(v1alpha1.DesiredRunning)
	w.expectRunning()
}

// W97: if the volume cannot be adopted, an event says why, once, and what is left costs no request.
func TestWhatCannotBeAdoptedIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := w.byHand("home/work")
	w.applyNaming(v1alpha1.DesiredPending, nil)
	w.converge()
	w.newEvents()
	w.annotate(objects.AnnotationAdopt, "another")
	w.converge()
	w.converge()
	w.expectState("PENDING")
	want := "Warning VolumeNotAdopted The volume that kyklos.io/adopt-volume names is not adopted: PersistentVolumeClaim ws-home-home has the UID " + string(claim.UID) + ", not another."
	if events := w.newEvents(); len(events) != 1 || !strings.HasPrefix(events[0], want) {
		t.Errorf("events %q, want one with %q", events, want)
	}
	w.annotate(objects.AnnotationAdopt, string(claim.UID))
	w.converge()
	w.expectState("ARCHIVED")
}
