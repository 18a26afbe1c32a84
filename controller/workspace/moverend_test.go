package workspace

import (
	"os"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/lifecycle"
)

// A Pod that its node lost was followed by another: the later Pod's result counts.
func TestTheLastMoverCounts(t *testing.T) {
	_, first := aMove(func(j *batchv1.Job, p *corev1.Pod) { ended(j, p, batchv1.JobFailed, `{"code":"CANCELLED"}`) })
	_, second := aMove(func(j *batchv1.Job, p *corev1.Pod) { ended(j, p, batchv1.JobFailed, `{"code":"DISK_FULL"}`) })
	second.UID, second.CreationTimestamp = types.UID("q"), metav1.NewTime(epoch.Add(time.Second))
	for _, pods := range [][]corev1.Pod{{first, second}, {second, first}} {
		if result, ok := moverResult("j", pods); !ok || result.Code != mover.DiskFull {
			t.Errorf("%+v, %v, want the second's", result, ok)
		}
	}
	if result, ok := moverResult("another", []corev1.Pod{first}); ok {
		t.Errorf("another Job's result: %+v", result)
	}
}

// proxied is a Pod with a container that a mesh injected. It comes first, and says what a mover could say.
func proxied(pod *corev1.Pod, own corev1.ContainerStatus) {
	pod.Status.Phase = corev1.PodRunning
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{
		{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}, own,
	}
}

// W76: a mover has ended when its own container has, whatever else a webhook put into its Pod.
func TestInjectedContainersDoNotCount(t *testing.T) {
	const ok, full = `{"code":"OK"}`, `{"code":"DISK_FULL"}`
	disrupted := []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}}
	for name, tc := range map[string]struct {
		change func(*batchv1.Job, *corev1.Pod)
		state  lifecycle.JobState
		code   lifecycle.Code
	}{
		"the mover is at work": {func(_ *batchv1.Job, p *corev1.Pod) { proxied(p, corev1.ContainerStatus{Name: "mover"}) }, lifecycle.JobRunning, ""},
		"it has ended":         {func(_ *batchv1.Job, p *corev1.Pod) { proxied(p, moverEnded(ok)) }, lifecycle.JobSucceeded, ""},
		"it has failed":        {func(_ *batchv1.Job, p *corev1.Pod) { proxied(p, moverEnded(full)) }, lifecycle.JobFailed, lifecycle.CodeJobFailed},
		"it was killed":        {func(_ *batchv1.Job, p *corev1.Pod) { proxied(p, moverEnded("")) }, lifecycle.JobFailed, lifecycle.CodeJobFailed},
		"it was killed after it said OK": {func(_ *batchv1.Job, p *corev1.Pod) {
			proxied(p, moverEnded(ok))
			p.Status.ContainerStatuses[1].State.Terminated.ExitCode = 137
		}, lifecycle.JobFailed, lifecycle.CodeJobFailed},
		"only the injected one has ended, and says OK": {func(_ *batchv1.Job, p *corev1.Pod) {
			proxied(p, corev1.ContainerStatus{Name: "mover", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}})
			p.Status.ContainerStatuses[0].State = moverEnded(ok).State
		}, lifecycle.JobRunning, ""},
		"the injected one failed after it": {func(j *batchv1.Job, p *corev1.Pod) {
			ended(j, p, batchv1.JobFailed, ok)
			p.Status.Phase = corev1.PodFailed
		}, lifecycle.JobSucceeded, ""},
		"a drain ends it": {func(_ *batchv1.Job, p *corev1.Pod) {
			proxied(p, moverEnded(full))
			p.Status.Conditions = disrupted
		}, lifecycle.JobRunning, ""},
		"a drain ends what is left": {func(_ *batchv1.Job, p *corev1.Pod) {
			proxied(p, moverEnded(ok))
			p.Status.Conditions = disrupted
		}, lifecycle.JobSucceeded, ""},
		"it is deleted": {func(_ *batchv1.Job, p *corev1.Pod) {
			proxied(p, moverEnded(full))
			p.DeletionTimestamp = &metav1.Time{Time: epoch}
		}, lifecycle.JobRunning, ""},
		"the Pod ended, which the Job has not noticed yet": {func(_ *batchv1.Job, p *corev1.Pod) {
			proxied(p, moverEnded(full))
			p.Status.Phase = corev1.PodFailed
		}, lifecycle.JobRunning, ""},
		"a Pod that the Job does not control": {func(_ *batchv1.Job, p *corev1.Pod) {
			proxied(p, moverEnded(ok))
			p.OwnerReferences[0].Controller = ptr.To(false)
		}, lifecycle.JobRunning, ""},
		"a Pod of an earlier attempt": {func(_ *batchv1.Job, p *corev1.Pod) {
			proxied(p, moverEnded(ok))
			p.OwnerReferences[0].UID = "another"
		}, lifecycle.JobRunning, ""},
	} {
		job, pod := aMove(tc.change)
		if view := jobView(&job, []corev1.Pod{pod}); view.State != tc.state || view.Code != tc.code {
			t.Errorf("%s: %s %s, want %s %s", name, view.State, view.Code, tc.state, tc.code)
		}
	}
}

// W76: the Pod that replaces one that was drained is waited for.
func TestAReplacedMoverIsWaitedFor(t *testing.T) {
	job, drained := aMove(func(_ *batchv1.Job, p *corev1.Pod) {
		proxied(p, moverEnded(`{"code":"CANCELLED"}`))
		p.Status.Phase = corev1.PodFailed
	})
	_, next := aMove(func(_ *batchv1.Job, p *corev1.Pod) { proxied(p, corev1.ContainerStatus{Name: "mover"}) })
	next.UID = "q"
	for _, pods := range [][]corev1.Pod{{drained, next}, {next, drained}} {
		if view := jobView(&job, pods); view.State != lifecycle.JobRunning {
			t.Errorf("%s, want %s", view.State, lifecycle.JobRunning)
		}
	}
}

// W77: what cannot be read blocks the archive and is named; when it can be read, the home is archived.
func TestAnUnreadableFileBlocksTheArchive(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	w.ended = func(r *mover.Result) {
		for _, stored := range w.archives() {
			w.update(os.Remove(stored))
		}
		*r = mover.Result{Code: mover.HomeUnreadable, Message: `permission denied to read 1 file ("token": file of user 1000, mode 0000)`}
	}
	w.desire(v1alpha1.DesiredPending)
	w.expectRetries(v1alpha1.FailureReason(lifecycle.ActionFailed), lifecycle.CodeHomeUnreadable, `"token": file of user 1000, mode 0000`, "desiredState to RUNNING", "chmod u+rX")
	if events := strings.Join(w.newEvents(), "\n"); !strings.Contains(events, `HomeUnreadable`) || !strings.Contains(events, `"token"`) {
		t.Errorf("no event names it:\n%s", events)
	}
	w.expectContent("work")
	w.ended = nil
	w.desire(v1alpha1.DesiredRunning)
	w.converge()
	w.expectRunning()
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.expectState("ARCHIVED")
}
