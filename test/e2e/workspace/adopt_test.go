package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
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

// byHand makes the claim of the home, as a person does, with a file on its volume.
func (s *scenario) byHand(path string) *corev1.PersistentVolumeClaim {
	s.Helper()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: objects.VolumeName(fixtures.WorkspaceName)}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	claim.Spec.StorageClassName = ptr.To("immediate")
	s.Must(s.Client.Create(s.Context(), claim))
	folder := s.Cluster.VolumeFolder(claim.UID)
	s.Until("the claim's folder", func() bool {
		s.Get(claim.Namespace, claim.Name, claim)
		return claim.Status.Phase == corev1.ClaimBound
	})
	s.Must(os.MkdirAll(filepath.Dir(filepath.Join(folder, path)), 0o755))
	s.Must(os.WriteFile(filepath.Join(folder, path), []byte("years of work"), 0o600))
	return claim
}

func (s *scenario) adopt(uid types.UID) {
	s.Helper()
	ws := &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: fixtures.WorkspaceName}}
	s.Must(s.Client.Patch(s.Context(), ws, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"kyklos.io/adopt-volume":"`+string(uid)+`"}}}`))))
}

// W98: the home lies in the root of the volume. Neither a process nor a simulated Pod is started on an empty one, and nothing is
// archived and deleted; moved into the folder home, it is the home.
func TestAVolumeWithoutAHomeIsNotStarted(t *testing.T) {
	for name, image := range map[string]string{"process": "", "simulated": "docker.io/library/busybox:1.37"} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t)
			s.Start(nil)
			claim := s.byHand("file")
			ws := s.NewWorkspace(fixtures.WorkspaceName, "/bin/sleep", "100000")
			ws.Annotations = map[string]string{"kyklos.io/adopt-volume": string(claim.UID)}
			if image != "" {
				ws.Spec.Image, ws.Spec.Args = image, nil
			}
			s.Must(s.Client.Create(t.Context(), ws))
			lost := func(operation v1alpha1.OperationType) {
				t.Helper()
				s.Await("in ERROR", func(ws *v1alpha1.Workspace) bool {
					e := ws.Status.Error
					return ws.Status.DisplayState == "ERROR" && e != nil && e.Code == v1alpha1.ReasonVolumeLost && e.Operation == operation && strings.Contains(e.Message, `in its root is "file"`)
				})
			}
			lost("STARTING")
			s.Change(`{"desiredState":"PENDING"}`)
			lost("ARCHIVING")
			folder := s.Cluster.VolumeFolder(claim.UID)
			if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
				t.Errorf("the volume has %v, %v; want the file alone", entries, err)
			}
			s.Must(os.Mkdir(filepath.Join(folder, "home"), 0o755))
			s.Must(os.Rename(filepath.Join(folder, "file"), filepath.Join(folder, "home", "file")))
			s.Change(`{"desiredState":"RUNNING"}`)
			s.AwaitSettled(fixtures.Running)
			s.expectFile("years of work")
			s.archiveAndRestore("and more")
		})
	}
}

// W97: the command in the message of VolumeForeign is pasted when the message is shown.
func TestAForeignVolumeIsAdoptedByTheCommandOfItsMessage(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	claim := s.byHand("home/file")
	s.Create("/bin/sleep", "100000")
	s.Await("VolumeForeign", func(ws *v1alpha1.Workspace) bool {
		return ws.Status.Error != nil && ws.Status.Error.Code == v1alpha1.ReasonVolumeForeign
	})
	s.adopt(claim.UID)
	s.AwaitSettled(fixtures.Running)
	s.expectFile("years of work")
	s.archiveAndRestore("and more")
}

// W97: a volume is adopted at PENDING, too, and then archived.
func TestAVolumeIsAdoptedAtPending(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	claim := s.byHand("home/file")
	ws := s.NewWorkspace(fixtures.WorkspaceName, "/bin/sleep", "100000")
	ws.Spec.DesiredState = v1alpha1.DesiredPending
	s.Must(s.Client.Create(t.Context(), ws))
	s.AwaitSettled("PENDING")
	s.adopt(claim.UID)
	s.AwaitSettled(fixtures.Archived)
	s.Change(`{"desiredState":"RUNNING"}`)
	s.AwaitSettled(fixtures.Running)
	s.expectFile("years of work")
}
