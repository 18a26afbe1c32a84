package workspace

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// W78: a home that was restored from an archive is lost with its volume, and a person makes a copy of it, as a claim of the same name
// without labels. Chosen by its UID, it is the home, and can be archived and restored.
func TestAVolumeThatWasBroughtBack(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	s.Create("/bin/sleep", "100000")
	s.AwaitSettled(fixtures.Running)
	s.Change(`{"desiredState":"PENDING"}`)
	s.AwaitSettled(fixtures.Archived)
	s.Change(`{"desiredState":"RUNNING"}`)
	s.AwaitSettled(fixtures.Running)
	s.leaveFile("newer than the archive")
	s.Change(`{"desiredState":"STANDBY"}`)
	s.AwaitSettled(fixtures.Standby)

	var lost corev1.PersistentVolumeClaim
	s.Get(s.Namespace, objects.VolumeName(fixtures.WorkspaceName), &lost)
	backup := t.TempDir()
	s.Must(os.CopyFS(backup, os.DirFS(s.Cluster.VolumeFolder(lost.UID))))
	s.Must(s.Client.Delete(t.Context(), &lost))
	failed := s.Await("in ERROR", func(ws *v1alpha1.Workspace) bool { return ws.Status.DisplayState == "ERROR" })
	if failed.Status.Error == nil || failed.Status.Error.Code != v1alpha1.ReasonVolumeLost {
		t.Errorf("it failed for %+v", failed.Status.Error)
	}
	back := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: lost.Namespace, Name: lost.Name}, Spec: lost.Spec}
	back.Spec.VolumeName = ""
	s.Must(s.Client.Create(t.Context(), back))
	s.Must(os.CopyFS(s.Cluster.VolumeFolder(back.UID), os.DirFS(backup)))
	s.Must(s.Client.Patch(t.Context(), failed, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"kyklos.io/adopt-volume":"`+string(back.UID)+`"}}}`))))

	if adopted := s.AwaitSettled(fixtures.Standby); adopted.Status.Volume == nil || adopted.Status.Volume.UID != string(back.UID) {
		t.Errorf("the home is on %+v, want the volume %s", adopted.Status.Volume, back.UID)
	}
	s.Change(`{"desiredState":"PENDING"}`)
	s.AwaitSettled(fixtures.Archived)
	s.Change(`{"desiredState":"RUNNING"}`)
	s.AwaitSettled(fixtures.Running)
	s.expectFile("newer than the archive")
}
