package objects_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/wsobject"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestObjects compares each object with its golden file.
func TestObjects(t *testing.T) {
	ws := ann()
	ws.Spec.Command, ws.Spec.Args = []string{"ide"}, []string{"--port=8080"}
	ws.Spec.NodeSelector = map[string]v1alpha1.LabelValue{"zone": "a"}
	ws.Spec.Tolerations = []v1alpha1.Toleration{{Key: "ide", Operator: "Exists", TolerationSeconds: ptr.To(int64(60)), Effect: "NoExecute"}}
	ws.Spec.ImagePullSecrets = []v1alpha1.SecretRef{{Name: "registry"}}
	ws.Spec.ServiceAccountName = "ide"
	ws.Spec.Storage.StorageClassName = "fast"
	ws.Spec.Env = []v1alpha1.EnvVar{
		{Name: "EDITOR", Value: "vi"},
		{Name: "TOKEN", ValueFrom: &v1alpha1.EnvVarSource{SecretKeyRef: &v1alpha1.KeyRef{Name: "git", Key: "token", Optional: ptr.To(true)}}},
		{Name: "PROXY", ValueFrom: &v1alpha1.EnvVarSource{ConfigMapKeyRef: &v1alpha1.KeyRef{Name: "net", Key: "proxy"}}},
	}
	ws.Spec.ReadinessProbe = &v1alpha1.Probe{HTTPGet: &v1alpha1.HTTPGet{Path: "/healthz", Port: 8080}, PeriodSeconds: 5, FailureThreshold: 2}
	volume, err := objects.Volume(ws, action(lifecycle.ActCreateVolume))
	golden(t, "volume", volume, err)
	pod, err := objects.Pod(ws, action(lifecycle.ActCreatePod))
	golden(t, "pod", pod, err)
	ticket, err := objects.Ticket(ws, action(lifecycle.ActCreateJob), archive.Ticket{Key: "archives/x", Folder: "/f"})
	golden(t, "ticket", ticket, err)
	golden(t, "archive-job", objects.Job(ws, action(lifecycle.ActCreateJob), move(lifecycle.Archiving)), nil)
	restore := move(lifecycle.Restoring)
	restore.SHA256, restore.Limit = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef", 1500*time.Millisecond
	golden(t, "restore-job", objects.Job(ws, action(lifecycle.ActCreateJob), restore), nil)
}

func golden(t *testing.T, name string, object any, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	got, err := yaml.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name+".yaml")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got)\n%s", path, diff)
	}
}

// W57: the API server is asked about the Pod that the Job controller will create.
func TestMoverPodIsThatOfTheJob(t *testing.T) {
	pod, job := objects.MoverPod(ann(), action(lifecycle.ActCreateJob), move(lifecycle.Archiving)), objects.Job(ann(), action(lifecycle.ActCreateJob), move(lifecycle.Archiving))
	if diff := cmp.Diff(job.Spec.Template.Spec, pod.Spec); diff != "" {
		t.Errorf("(-Job +Pod)\n%s", diff)
	}
	for name, value := range job.Spec.Template.Labels {
		if pod.Labels[name] != value {
			t.Errorf("label %s: got %q, want %q", name, pod.Labels[name], value)
		}
	}
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != "Job" || owner.Name != job.Name || owner.UID == "" || pod.Namespace != job.Namespace || pod.GenerateName != job.Name+"-" {
		t.Errorf("got %+v", pod.ObjectMeta)
	}
}

// TestAmountsAreChecked: the object may predate the CRD's rules.
func TestAmountsAreChecked(t *testing.T) {
	for want, spoil := range map[string]func(*v1alpha1.Workspace){
		`spec.storage.size: "big" is not a quantity such as 500m or 4Gi`:         func(ws *v1alpha1.Workspace) { ws.Spec.Storage.Size = "big" },
		`spec.resources.requests[cpu]: "" is not a quantity such as 500m or 4Gi`: func(ws *v1alpha1.Workspace) { ws.Spec.Resources.Requests["cpu"] = "" },
		`spec.resources.limits[memory]: "4 GB" is not a quantity such as 500m or 4Gi`: func(ws *v1alpha1.Workspace) {
			ws.Spec.Resources.Limits["memory"], ws.Spec.Resources.Limits["zzz"] = "4 GB", "?"
		},
	} {
		ws := ann()
		spoil(ws)
		_, err := objects.Volume(ws, action(lifecycle.ActCreateVolume))
		_, bytesErr := objects.VolumeBytes(ws, nil)
		if (err == nil) != (bytesErr == nil) {
			t.Errorf("%v and %v", err, bytesErr)
		}
		if err == nil {
			_, err = objects.Pod(ws, action(lifecycle.ActCreatePod))
		}
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestVolumeBytes(t *testing.T) {
	claim := &corev1.PersistentVolumeClaim{}
	size, err := objects.VolumeBytes(ann(), claim)
	if err != nil || size != 10<<30 {
		t.Errorf("asked for: %d, %v", size, err)
	}
	if size, err = objects.VolumeBytes(ann(), nil); err != nil || size != 10<<30 {
		t.Errorf("without a claim: %d, %v", size, err)
	}
	_ = json.Unmarshal([]byte(`{"status":{"capacity":{"storage":"16Gi"}}}`), claim)
	if size, err = objects.VolumeBytes(ann(), claim); err != nil || size != 16<<30 {
		t.Errorf("given: %d, %v", size, err)
	}
}

// TestOwnership: a name alone does not prove ownership (D20).
func TestOwnership(t *testing.T) {
	ws, twin, stranger := ann(), ann(), ann()
	twin.UID, stranger.UID = "another", "nobody"
	pod, _ := objects.Pod(ws, action(lifecycle.ActCreatePod))
	volume, _ := objects.Volume(ws, action(lifecycle.ActCreateVolume))
	if !objects.Ours(ws, pod) || objects.Ours(twin, pod) {
		t.Error("a Pod is its Workspace's alone")
	}
	if id, attempt := objects.Origin(pod); id != operationID || attempt != 2 {
		t.Errorf("made for %s, attempt %d", id, attempt)
	}
	if id, attempt := objects.Origin(volume); id != operationID || attempt != 0 {
		t.Errorf("made for %s, attempt %d", id, attempt)
	}
	if id, attempt := objects.Origin(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{objects.LabelAttempt: "99999999999"}}}); id != "" || attempt != 0 {
		t.Errorf("made for %s, attempt %d", id, attempt)
	}
	if !wsobject.OurVolume(ws, volume) || wsobject.OurVolume(twin, volume) || wsobject.Released(volume) || len(volume.OwnerReferences) > 0 {
		t.Errorf("a volume is its Workspace's alone, and does not go with it: %+v", volume.ObjectMeta)
	}
	volume.OwnerReferences = pod.OwnerReferences
	if !wsobject.OurVolume(ws, volume) {
		t.Error("a Workspace may be its volume's controller")
	}
	stolen, _ := objects.Pod(stranger, action(lifecycle.ActCreatePod))
	volume.OwnerReferences = stolen.OwnerReferences
	if wsobject.OurVolume(ws, volume) {
		t.Error("another object is its controller")
	}
}

// TestPatches applies the patches as the API server does.
func TestPatches(t *testing.T) {
	volume, _ := objects.Volume(ann(), action(lifecycle.ActCreateVolume))
	if marker := objects.Marker(volume); marker != (lifecycle.Marker{}) {
		t.Errorf("a new volume is marked: %+v", marker)
	}
	for _, marker := range []lifecycle.Marker{
		{Content: lifecycle.Restored, OperationID: "0", Adopted: true},
		{Content: lifecycle.Restored, RestoredFrom: "archives/x", OperationID: "1"},
		{Content: lifecycle.Empty, OperationID: "2"}, // what was restored before is forgotten
	} {
		act := action(lifecycle.ActMarkVolume)
		act.Marker = marker
		volume = patched(t, volume, objects.MarkPatch(act))
		if got := objects.Marker(volume); got != marker {
			t.Errorf("got %+v, want %+v", got, marker)
		}
	}
	volume = patched(t, volume, objects.ReleasePatch(action(lifecycle.ActReleaseVolume)))
	if !wsobject.Released(volume) || !wsobject.OurVolume(ann(), volume) || objects.Marker(volume).Content != lifecycle.Empty {
		t.Errorf("left behind without an owner: %+v", volume.ObjectMeta)
	}
	act := action(lifecycle.ActAdoptVolume)
	act.Marker = lifecycle.Marker{Content: lifecycle.Restored}
	volume.Labels = map[string]string{"team": "a"}
	volume = patched(t, volume, objects.AdoptPatch(ann(), act))
	if wsobject.Released(volume) || !wsobject.OurVolume(ann(), volume) || objects.Marker(volume) != act.Marker || volume.Labels["team"] != "a" {
		t.Errorf("not adopted: %+v", volume.ObjectMeta)
	}
	volume.Annotations[objects.AnnotationContent] = "Full"
	if marker := objects.Marker(volume); marker != (lifecycle.Marker{}) {
		t.Errorf("an unknown marker is taken for one: %+v", marker)
	}
}

func patched(t *testing.T, volume *corev1.PersistentVolumeClaim, patch []byte) *corev1.PersistentVolumeClaim {
	t.Helper()
	var about struct{ Metadata metav1.ObjectMeta }
	if err := json.Unmarshal(patch, &about); err != nil || about.Metadata.UID != volumeUID {
		t.Errorf("%v; the patch is for any claim: %s", err, patch)
	}
	volume.UID, volume.ResourceVersion = volumeUID, ""
	server := fake.NewClientBuilder().WithObjects(volume).Build()
	if err := server.Patch(t.Context(), volume, client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
	return volume
}

func TestTickets(t *testing.T) {
	want := archive.Ticket{Key: "archives/x", GetData: "https://store/x?sig", Upload: &archive.Upload{ID: "u", PartSize: 5, Signatures: []string{"a"}}}
	secret, err := objects.Ticket(ann(), action(lifecycle.ActCreateJob), want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := objects.ReadTicket(secret)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	secret.Data = nil
	if _, err := objects.ReadTicket(secret); err == nil || err.Error() != "ticket.json in Secret team/ws-ann-f47ac1-2 is not a valid ticket: unexpected end of JSON input" {
		t.Error(err)
	}
}
