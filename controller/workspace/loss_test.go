package workspace

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

func TestAVolumeIsKeptIfItsArchiveGoes(t *testing.T) { // D4
	t.Parallel()
	w := inStandby(t)
	w.faults.refuse = func(verb string, object client.Object) error {
		if _, ok := object.(*corev1.PersistentVolumeClaim); ok && verb == "delete" {
			return errors.New("no answer")
		}
		return nil
	}
	w.desire(v1alpha1.DesiredPending)
	for range 60 {
		_ = w.pass()
		w.nodes()
		w.clock.SetTime(w.clock.Now().Add(time.Second))
	}
	if o := w.workspace().Status.Operation; o == nil || !o.PointOfNoReturn {
		t.Fatalf("the volume is not about to be deleted: %+v", o)
	}
	for _, name := range w.archives() {
		w.update(os.Remove(name))
	}
	w.faults.refuse = nil
	uid := w.pvc().UID
	w.desire(v1alpha1.DesiredStandby)
	w.converge()
	w.expectState("STANDBY")
	w.expectContent("work")
	if w.pvc().UID != uid {
		t.Error("the home is on another volume")
	}
}

func TestALostArchiveIsReported(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.expectState("ARCHIVED")
	for _, name := range w.archives() {
		w.update(os.Remove(name))
	}
	w.desire(v1alpha1.DesiredRunning)
	w.converge()
	w.expectError(v1alpha1.FailureReason(lifecycle.DataLost), lifecycle.CodeArchiveLost)
	archive := meta.FindStatusCondition(w.workspace().Status.Conditions, v1alpha1.ConditionArchiveReady)
	if archive == nil || archive.Status != metav1.ConditionFalse || archive.Reason != v1alpha1.ReasonArchiveLost || !strings.Contains(archive.Message, "archives/") {
		t.Errorf("ArchiveReady: %+v", archive)
	}
	w.annotate(objects.AnnotationAcceptLoss, w.workspace().Status.ArchiveKey)
	w.converge()
	w.expectState("RUNNING")
}
