package workspace

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive/mover"
)

const protection = "kubernetes.io/pvc-protection"

// retired is a class that makes no volumes any more.
const retired = "retired"

// likeAServer adds to the fake client what an API server does on writes: UIDs, times, pvc-protection, and
// UIDs as preconditions.
func likeAServer(c client.WithWatch, clock clock.PassiveClock) client.WithWatch {
	return interceptor.NewClient(c, interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			object.SetUID(types.UID(uuid.NewString()))
			object.SetCreationTimestamp(metav1.NewTime(clock.Now()))
			if _, ok := object.(*corev1.PersistentVolumeClaim); ok {
				controllerutil.AddFinalizer(object, protection)
			}
			return c.Create(ctx, object, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			var all client.DeleteOptions
			all.ApplyOptions(options)
			stored := object.DeepCopyObject().(client.Object)
			if err := c.Get(ctx, client.ObjectKeyFromObject(object), stored); err != nil {
				return err
			}
			if all.Preconditions != nil && all.Preconditions.UID != nil && *all.Preconditions.UID != stored.GetUID() {
				return apierrors.NewConflict(schema.GroupResource{}, object.GetName(), os.ErrInvalid)
			}
			return c.Delete(ctx, object, options...)
		},
	})
}

// nodes lets the kubelet, the Job controller, the binder and the garbage collector do their next steps. It reports whether
// there was any.
func (w *world) nodes() (moved bool) {
	w.Helper()
	var claims corev1.PersistentVolumeClaimList
	var jobs batchv1.JobList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&claims, &jobs, &pods} {
		if err := w.server.List(w.Context(), list); err != nil {
			w.Fatal(err)
		}
	}
	for i := range claims.Items {
		moved = w.bind(&claims.Items[i], pods.Items) || moved
	}
	for i := range jobs.Items {
		moved = !w.keepJobs && w.runJob(&jobs.Items[i]) || moved
	}
	for i := range pods.Items {
		moved = w.runPod(&pods.Items[i]) || moved
	}
	return moved
}

func (w *world) bind(claim *corev1.PersistentVolumeClaim, pods []corev1.Pod) bool {
	if claim.DeletionTimestamp == nil && claim.Status.Phase == "" && ptr.Deref(claim.Spec.StorageClassName, "") != retired {
		claim.Status.Phase = corev1.ClaimBound
		w.update(w.server.Status().Update(w.Context(), claim))
		return true
	}
	for i := range pods {
		if uses(&pods[i], claim.Name) {
			return false
		}
	}
	if claim.DeletionTimestamp != nil && controllerutil.RemoveFinalizer(claim, protection) {
		w.update(w.server.Update(w.Context(), claim))
		w.update(os.RemoveAll(w.diskOf(claim)))
		return true
	}
	return false
}

func (w *world) runPod(pod *corev1.Pod) bool {
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "Job" && !w.has(owner.Name, &batchv1.Job{}) {
			w.update(client.IgnoreNotFound(w.server.Delete(w.Context(), pod)))
			return true
		}
	}
	if w.keepPods || pod.Labels[objects.LabelRole] != objects.RoleWorkspace || objects.Ready(pod) {
		return false
	}
	if found, changed := w.checkHome(pod); !found {
		return changed
	}
	w.update(os.MkdirAll(filepath.Join(w.diskOf(w.pvc()), "home"), 0o755))
	pod.Status.Phase = corev1.PodRunning
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	w.update(w.server.Status().Update(w.Context(), pod))
	return true
}

// runJob runs a mover to its end.
func (w *world) runJob(job *batchv1.Job) bool {
	if len(job.Status.Conditions) > 0 {
		return false
	}
	result := w.move(job)
	if w.ended != nil {
		w.ended(&result)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: job.Namespace, Name: job.Name + "-pod", Labels: job.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "batch/v1", Kind: "Job", Name: job.Name, UID: job.UID, Controller: ptr.To(true)}},
		},
		Spec: job.Spec.Template.Spec,
	}
	w.update(w.server.Create(w.Context(), pod))
	pod.Status.Phase = corev1.PodSucceeded
	end, code := batchv1.JobComplete, int32(0)
	if result.Code != mover.OK {
		pod.Status.Phase, end, code = corev1.PodFailed, batchv1.JobFailed, int32(result.Code.ExitCode())
	}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "mover", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Message: string(result.JSON())},
	}}}
	w.update(w.server.Status().Update(w.Context(), pod))
	job.Status.Conditions = []batchv1.JobCondition{{Type: end, Status: corev1.ConditionTrue}}
	w.update(w.server.Status().Update(w.Context(), job))
	return true
}

// move runs the mover with the Job's arguments.
func (w *world) move(job *batchv1.Job) mover.Result {
	args := map[string]string{}
	list := job.Spec.Template.Spec.Containers[0].Args
	for i := 2; i+1 < len(list); i += 2 {
		args[strings.TrimPrefix(list[i], "--")] = list[i+1]
	}
	var secret corev1.Secret
	w.update(w.server.Get(w.Context(), client.ObjectKeyFromObject(job), &secret))
	ticket, err := objects.ReadTicket(&secret)
	w.update(err)
	move := mover.Job{
		Volume: filepath.Join(w.disks, args["volume-uid"]), VolumeUID: args["volume-uid"], Version: "test",
		Workspace: args["workspace"], Operation: args["operation"], SHA256: args["sha256"], RestoredFrom: args["restored-from"],
	}
	move.Epoch, _ = strconv.ParseInt(args["epoch"], 10, 64)
	w.update(os.MkdirAll(move.Volume, 0o755))
	move.Store, move.Key, err = mover.Open(ticket)
	w.update(err)
	run := mover.Restore
	if list[1] == "archive" {
		run = mover.Archive
	}
	result, err := run(w.Context(), move)
	if err != nil {
		return mover.Failed(move.Key, err)
	}
	return result
}

func (w *world) update(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}
