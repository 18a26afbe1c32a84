package workspace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

func condition(status corev1.ConditionStatus) []corev1.PodCondition {
	return []corev1.PodCondition{{Type: corev1.PodReady, Status: status}}
}

// notReady makes a Pod not ready, with its own container ready or not.
func notReady(reason string, own bool) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: reason}}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "sidecar"}, {Name: objects.WorkspaceContainer, Ready: own, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}
	}
}

func TestPodView(t *testing.T) { // D3
	ws := aWorkspace()
	gone := &metav1.Time{Time: epoch}
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		want   lifecycle.PodState
	}{
		"new":               {func(*corev1.Pod) {}, lifecycle.PodNotReady},
		"running, unready":  {func(p *corev1.Pod) { p.Status.Conditions = condition(corev1.ConditionFalse) }, lifecycle.PodNotReady},
		"ready":             {func(p *corev1.Pod) { p.Status.Conditions = condition(corev1.ConditionTrue) }, lifecycle.PodReady},
		"a sidecar is not":  {notReady("ContainersNotReady", true), lifecycle.PodReady}, // W90
		"nor is its own":    {notReady("ContainersNotReady", false), lifecycle.PodNotReady},
		"its node is away":  {notReady("NodeNotReady", true), lifecycle.PodNotReady},
		"evicted":           {func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }, lifecycle.PodEnded},
		"ended":             {func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }, lifecycle.PodEnded},
		"going while ready": {func(p *corev1.Pod) { p.Status.Conditions, p.DeletionTimestamp = condition(corev1.ConditionTrue), gone }, lifecycle.PodTerminating},
		"going after its end": {
			func(p *corev1.Pod) { p.Status.Phase, p.DeletionTimestamp = corev1.PodSucceeded, gone }, lifecycle.PodTerminating,
		},
	} {
		pod, err := objects.Pod(ws, lifecycle.Action{OperationID: "op", Attempt: 2})
		if err != nil {
			t.Fatal(err)
		}
		pod.UID = "p"
		tc.change(pod)
		want := lifecycle.Pod{State: tc.want, UID: "p", OperationID: "op", Attempt: 2}
		if diff := cmp.Diff(want, podView(ws, pod)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		pod.OwnerReferences = nil
		if !podView(ws, pod).Foreign {
			t.Errorf("%s: without its owner it counts as ours", name)
		}
	}
	if got := podView(ws, nil); got != (lifecycle.Pod{}) {
		t.Errorf("no Pod: %+v", got)
	}
}

func TestVolumeView(t *testing.T) { // D17, D19
	ws := aWorkspace()
	for name, tc := range map[string]struct {
		change func(*corev1.PersistentVolumeClaim)
		waits  bool
		want   lifecycle.VolumeState
	}{
		"new":                  {want: lifecycle.VolumePending},
		"new, of a late class": {waits: true, want: lifecycle.VolumeWaiting},
		"bound":                {change: func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimBound }, waits: true, want: lifecycle.VolumeBound},
		"its volume is lost":   {change: func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost }, want: lifecycle.VolumeLost},
		"going, and still bound": {change: func(c *corev1.PersistentVolumeClaim) {
			c.Status.Phase, c.DeletionTimestamp = corev1.ClaimBound, &metav1.Time{Time: epoch}
		}, want: lifecycle.VolumeTerminating},
	} {
		claim, err := objects.Volume(ws, lifecycle.Action{OperationID: "op"})
		if err != nil {
			t.Fatal(err)
		}
		claim.UID, claim.ResourceVersion = "v", "7"
		if tc.change != nil {
			tc.change(claim)
		}
		want := lifecycle.VolumeView{State: tc.want, UID: "v", ResourceVersion: "7", OperationID: "op"}
		if diff := cmp.Diff(want, volumeView(ws, claim, tc.waits)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// aMove is a mover's Job and its ended Pod.
func aMove(change func(*batchv1.Job, *corev1.Pod)) (batchv1.Job, corev1.Pod) {
	ws := aWorkspace()
	job := objects.Job(ws, lifecycle.Action{Name: "ws-home-abcdef-1", UID: "v", OperationID: "op", Attempt: 1}, objects.Move{
		Operation: lifecycle.Archiving, Image: "kyklos", Limit: time.Minute,
	})
	job.UID = "j"
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: "p", UID: "p", Labels: map[string]string{batchv1.JobNameLabel: job.Name}, CreationTimestamp: metav1.NewTime(epoch),
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: job.Name, UID: job.UID, Controller: ptr.To(true)}},
	}}
	for name, value := range job.Spec.Template.Labels {
		pod.Labels[name] = value
	}
	change(job, &pod)
	return *job, pod
}

func ended(job *batchv1.Job, pod *corev1.Pod, how batchv1.JobConditionType, message string) {
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue}, {Type: how, Status: corev1.ConditionTrue}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{moverEnded(message)}
}

// moverEnded is the status of a mover's container.
func moverEnded(message string) corev1.ContainerStatus {
	end := &corev1.ContainerStateTerminated{Message: message}
	if !strings.Contains(message, `"OK"`) {
		end.ExitCode = 11
	}
	return corev1.ContainerStatus{Name: objects.MoverContainer, State: corev1.ContainerState{Terminated: end}}
}

func TestJobViews(t *testing.T) { // D18
	for name, tc := range map[string]struct {
		change func(*batchv1.Job, *corev1.Pod)
		state  lifecycle.JobState
		reason lifecycle.Reason
		code   lifecycle.Code
		noJob  bool
	}{
		"at work": {state: lifecycle.JobRunning},
		"done":    {change: func(j *batchv1.Job, p *corev1.Pod) { ended(j, p, batchv1.JobComplete, `{"code":"OK"}`) }, state: lifecycle.JobSucceeded},
		"done, by a program that moves no homes": {
			change: func(j *batchv1.Job, p *corev1.Pod) { ended(j, p, batchv1.JobComplete, "") },
			state:  lifecycle.JobFailed, reason: lifecycle.ActionFailed, code: lifecycle.CodeJobFailed,
		},
		"going, though done": {change: func(j *batchv1.Job, p *corev1.Pod) {
			ended(j, p, batchv1.JobComplete, "{}")
			j.DeletionTimestamp = &metav1.Time{Time: epoch}
		}, state: lifecycle.JobTerminating},
		"only its Pod is left": {noJob: true, state: lifecycle.JobTerminating},
		"killed": {
			change: func(j *batchv1.Job, p *corev1.Pod) { ended(j, p, batchv1.JobFailed, "") },
			state:  lifecycle.JobFailed, reason: lifecycle.ActionFailed, code: lifecycle.CodeJobFailed,
		},
		"a lost archive": {
			change: func(j *batchv1.Job, p *corev1.Pod) {
				ended(j, p, batchv1.JobFailed, `{"code":"ARCHIVE_NOT_FOUND"}`+"\n")
			},
			state: lifecycle.JobFailed, reason: lifecycle.DataLost, code: lifecycle.CodeArchiveLost,
		},
		"a full disk": {
			change: func(j *batchv1.Job, p *corev1.Pod) { ended(j, p, batchv1.JobFailed, `{"code":"DISK_FULL"}`) },
			state:  lifecycle.JobFailed, reason: lifecycle.ActionFailed, code: lifecycle.CodeJobFailed,
		},
		"a file that may not be read": {
			change: func(j *batchv1.Job, p *corev1.Pod) { ended(j, p, batchv1.JobFailed, `{"code":"HOME_UNREADABLE"}`) },
			state:  lifecycle.JobFailed, reason: lifecycle.ActionFailed, code: lifecycle.CodeHomeUnreadable,
		},
		"what it stored is not the home": {
			change: func(j *batchv1.Job, p *corev1.Pod) { ended(j, p, batchv1.JobFailed, `{"code":"ARCHIVE_UNVERIFIED"}`) },
			state:  lifecycle.JobFailed, reason: lifecycle.Mismatch, code: lifecycle.CodeArchiveCorrupt,
		},
	} {
		change := tc.change
		if change == nil {
			change = func(*batchv1.Job, *corev1.Pod) {}
		}
		job, pod := aMove(change)
		jobs := []batchv1.Job{job}
		if tc.noJob {
			jobs = nil
		}
		want := []lifecycle.Job{{
			Name: "ws-home-abcdef-1", UID: "j", State: tc.state, OperationID: "op", Attempt: 1, VolumeUID: "v", Reason: tc.reason, Code: tc.code,
		}}
		if diff := cmp.Diff(want, jobViews(aWorkspace(), jobs, []corev1.Pod{pod, pod})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		job.OwnerReferences = nil
		if got := jobViews(aWorkspace(), []batchv1.Job{job}, nil); len(got) > 0 {
			t.Errorf("%s: a stranger's Job is taken for ours: %+v", name, got)
		}
	}
}

// W57: a Job that runs without a Pod is noticed.
func TestPodlessJobs(t *testing.T) {
	job, pod := aMove(func(j *batchv1.Job, _ *corev1.Pod) { j.CreationTimestamp = metav1.NewTime(epoch) })
	if view := jobView(&job, nil); !view.PodlessSince.Equal(epoch) {
		t.Errorf("without a Pod: since %s", view.PodlessSince)
	}
	if view := jobView(&job, []corev1.Pod{pod}); !view.PodlessSince.IsZero() {
		t.Errorf("with a Pod: since %s", view.PodlessSince)
	}
}
