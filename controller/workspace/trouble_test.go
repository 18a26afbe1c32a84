package workspace

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/lifecycle"
)

// expectError checks that the Workspace is in ERROR with the reason, the code and parts of the message.
func (w *world) expectError(reason v1alpha1.FailureReason, code lifecycle.Code, parts ...string) {
	w.Helper()
	status := w.workspace().Status
	if status.Phase != v1alpha1.PhaseError || status.Error == nil || status.Error.Reason != reason || status.Error.Code != string(code) {
		w.Fatalf("the workspace is %s with %+v, want ERROR with %s, %s", status.Phase, status.Error, reason, code)
	}
	for _, part := range parts {
		if !strings.Contains(status.Error.Message, part) {
			w.Errorf("the message %q does not contain %q", status.Error.Message, part)
		}
	}
}

// annotate sets an annotation, as a user does.
func (w *world) annotate(name, value string) {
	w.Helper()
	ws := w.workspace()
	metav1.SetMetaDataAnnotation(&ws.ObjectMeta, name, value)
	w.update(w.server.Update(w.Context(), ws))
}

// inStandby is a world with a home in STANDBY that holds "work".
func inStandby(t *testing.T, change ...func(*v1alpha1.Workspace)) *world {
	t.Helper()
	w := newWorld(t, aWorkspace(change...))
	w.converge()
	w.write("work")
	w.desire(v1alpha1.DesiredStandby)
	w.converge()
	w.expectState("STANDBY")
	return w
}

// debugger is a foreign Pod on the home's volume.
func debugger() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: home.Namespace, Name: "debug"},
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "ws-home-home"},
		}}}},
	}
}

func TestNothingIsArchivedUnderAWriter(t *testing.T) { // D3
	t.Parallel()
	w := inStandby(t)
	w.update(w.server.Create(t.Context(), debugger()))
	w.desire(v1alpha1.DesiredPending)
	for range 20 {
		_ = w.pass()
		w.clock.SetTime(w.clock.Now().Add(5 * time.Second))
	}
	var jobs batchv1.JobList
	w.update(w.server.List(t.Context(), &jobs))
	if len(jobs.Items) > 0 || len(w.archives()) > 0 {
		t.Errorf("%d Jobs and %v while a Pod may write", len(jobs.Items), w.archives())
	}
	w.update(w.server.Delete(t.Context(), debugger()))
	w.converge()
	w.expectState("ARCHIVED")
}

func TestADeadPodIsStartedAgain(t *testing.T) { // W36, D16
	t.Parallel()
	w := newWorld(t, aWorkspace())
	w.converge()
	w.write("work")
	for range 2 {
		w.update(w.server.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: home.Namespace, Name: "ws-home"}}))
		w.expectRunning()
	}
	if status := w.workspace().Status; status.Restarts != 2 || status.Volume.Epoch != 3 {
		t.Errorf("restarts %d, epoch %d, want 2 and 3", status.Restarts, status.Volume.Epoch)
	}
}

func TestALostVolumeIsNotReplaced(t *testing.T) { // D6
	t.Parallel()
	w := inStandby(t)
	lost := string(w.pvc().UID)
	w.update(w.server.Delete(t.Context(), w.pvc()))
	w.converge()
	w.expectError(v1alpha1.FailureReason(lifecycle.DataLost), lifecycle.CodeVolumeLost)
	w.annotate(objects.AnnotationAcceptLoss, "another")
	w.converge()
	w.expectError(v1alpha1.FailureReason(lifecycle.DataLost), lifecycle.CodeVolumeLost)
	w.annotate(objects.AnnotationAcceptLoss, lost)
	w.converge()
	w.expectState("STANDBY")
	if string(w.pvc().UID) == lost {
		t.Error("the lost volume is back")
	}
}

func TestAForeignVolumeIsLeftAlone(t *testing.T) { // D20
	t.Parallel()
	w := newWorld(t, aWorkspace())
	theirs := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: home.Namespace, Name: "ws-home-home"}}
	w.update(w.server.Create(t.Context(), theirs))
	w.converge()
	w.expectError(v1alpha1.FailureReason(lifecycle.Mismatch), lifecycle.CodeVolumeForeign)
	if after := w.pvc(); after.UID != theirs.UID || after.DeletionTimestamp != nil || len(after.Labels)+len(after.Annotations) > 0 {
		t.Errorf("the stranger's claim was touched: %+v", after)
	}
	w.update(w.server.Delete(t.Context(), w.pvc()))
	w.nodes()
	w.annotate(objects.AnnotationRetry, "1")
	w.converge()
	w.expectState("RUNNING")
}

func TestARefusalIsCounted(t *testing.T) { // D25
	t.Parallel()
	w := newWorld(t, aWorkspace())
	asked := 0
	w.faults.refuse = func(verb string, object client.Object) error {
		if _, ok := object.(*corev1.PersistentVolumeClaim); ok && verb == "create" {
			asked++
			return apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, object.GetName(), errors.New("exceeded quota: storage"))
		}
		return nil
	}
	w.expectRetries(v1alpha1.FailureReason(lifecycle.ActionFailed), lifecycle.CodeRefused, "exceeded quota: storage")
	if asked != 6 {
		t.Errorf("it was tried %d times, want once for each attempt", asked)
	}
	w.faults.refuse = nil
	w.converge()
	w.expectState("RUNNING")
}

func TestWhatCannotBeBuiltIsTriedSlowly(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace(func(ws *v1alpha1.Workspace) { ws.Spec.Storage.Size = "much" }))
	begun := w.clock.Now()
	w.expectRetries(v1alpha1.FailureReason(lifecycle.ActionFailed), lifecycle.CodeRefused, "spec.storage.size", `"much"`)
	if took := w.clock.Now().Sub(begun); took < 25*time.Minute {
		t.Errorf("six attempts in %s for what takes another spec", took)
	}
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Storage.Size = "1Gi" }) // which is tried at once
	changed := w.clock.Now()
	w.converge()
	w.expectState("RUNNING")
	if took := w.clock.Now().Sub(changed); took > 3*time.Minute {
		t.Errorf("it waits for %s after the spec has changed", took)
	}
}

func TestNoAnswerIsNotCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace())
	silent := 0
	w.faults.refuse = func(verb string, object client.Object) error {
		if _, ok := object.(*corev1.Pod); ok && verb == "create" && silent < 10 {
			silent++
			return errors.New("dial tcp: connection refused")
		}
		return nil
	}
	w.converge()
	w.expectState("RUNNING")
	if status := w.workspace().Status; silent != 10 || status.Error != nil {
		t.Errorf("after %d calls without an answer: %+v", silent, status.Error)
	}
}

func TestAnUnreachableStoreIsNotALoss(t *testing.T) { // D23
	t.Parallel()
	w := inStandby(t)
	w.update(os.Rename(w.bucket, w.bucket+".away"))
	w.desire(v1alpha1.DesiredPending)
	w.expectRetries(v1alpha1.FailureReason(lifecycle.Unreachable), lifecycle.CodeBucketMissing)
	w.expectContent("work")
	w.update(os.Rename(w.bucket+".away", w.bucket))
	w.converge()
	w.expectState("ARCHIVED")
}

// The reason is there from the first failure until the store is used again, also between the attempts (W61).
func TestAStoreThatIsAwayIsTheReason(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	var secret corev1.Secret
	w.update(w.server.Get(t.Context(), client.ObjectKey{Namespace: home.Namespace, Name: storeName}, &secret))
	good := secret.Data
	secret.Data = map[string][]byte{
		connect.Endpoint: []byte("http://169.254.169.254"), connect.Bucket: []byte("homes"), connect.AccessKeyID: []byte("a"), connect.SecretAccessKey: []byte("b"),
	}
	w.update(w.server.Update(t.Context(), &secret))
	w.desire(v1alpha1.DesiredPending)
	for w.workspace().Status.Error == nil {
		_ = w.pass()
		w.clock.SetTime(w.clock.Now().Add(time.Second))
	}
	for w.workspace().Status.Operation.Attempt < 6 {
		for _, kind := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionProgressing} {
			if condition := meta.FindStatusCondition(w.workspace().Status.Conditions, kind); condition == nil || condition.Reason != string(lifecycle.CodeStoreUnreachable) {
				t.Fatalf("%s at %v: %+v", kind, w.clock.Now(), condition)
			}
		}
		_ = w.pass()
		w.clock.SetTime(w.clock.Now().Add(time.Second))
	}
	w.expectRetries(v1alpha1.FailureReason(lifecycle.Unreachable), lifecycle.CodeStoreUnreachable, "Secret store: endpoint: the manager does not call 169.254.169.254")
	secret.Data = good
	w.update(w.server.Update(t.Context(), &secret))
	w.converge()
	w.expectState("ARCHIVED")
	for _, condition := range w.workspace().Status.Conditions {
		if condition.Reason == string(lifecycle.CodeStoreUnreachable) {
			t.Errorf("it is still there: %+v", condition)
		}
	}
}

func TestASecretThatSaysTooLittle(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	var secret corev1.Secret
	w.update(w.server.Get(t.Context(), client.ObjectKey{Namespace: home.Namespace, Name: storeName}, &secret))
	secret.Data = map[string][]byte{"endpoint": []byte("http://s3.example.com"), "buckett": []byte("homes")}
	w.update(w.server.Update(t.Context(), &secret))
	w.desire(v1alpha1.DesiredPending)
	w.expectRetries(v1alpha1.FailureReason(lifecycle.Unreachable), lifecycle.CodeStoreUnreachable, "Secret store", "buckett")
	w.expectContent("work")
}
