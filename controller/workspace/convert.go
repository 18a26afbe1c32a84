package workspace

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/wsobject"
)

// podView converts the Pod with the Workspace's name for the engine; nil if there is none.
func podView(ws *v1alpha1.Workspace, pod *corev1.Pod) lifecycle.Pod {
	if pod == nil {
		return lifecycle.Pod{}
	}
	view := lifecycle.Pod{State: lifecycle.PodNotReady, Foreign: !objects.Ours(ws, pod), UID: string(pod.UID), NoHome: noHome(pod)}
	view.OperationID, view.Attempt = objects.Origin(pod)
	switch {
	case pod.DeletionTimestamp != nil:
		view.State = lifecycle.PodTerminating
	case podEnded(pod):
		view.State = lifecycle.PodEnded
	case objects.Ready(pod):
		view.State = lifecycle.PodReady
	}
	return view
}

// podEnded reports whether all containers of a Pod have ended.
func podEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// volumeView converts the PersistentVolumeClaim with the Workspace's name for the engine; nil if there is none.
func volumeView(ws *v1alpha1.Workspace, pvc *corev1.PersistentVolumeClaim, bindsLate bool) lifecycle.VolumeView {
	if pvc == nil {
		return lifecycle.VolumeView{}
	}
	view := lifecycle.VolumeView{
		State: lifecycle.VolumePending, Foreign: !wsobject.OurVolume(ws, pvc), Controlled: wsobject.ControlledByOther(ws, pvc), Released: wsobject.Released(pvc),
		Left: wsobject.LeftBehind(ws, pvc), Outdated: objects.OutdatedVolume(ws, pvc),
		UID: string(pvc.UID), ResourceVersion: pvc.ResourceVersion, Marker: objects.Marker(pvc),
	}
	view.OperationID, _ = objects.Origin(pvc)
	switch {
	case pvc.DeletionTimestamp != nil:
		view.State = lifecycle.VolumeTerminating
	case pvc.Status.Phase == corev1.ClaimLost:
		view.State = lifecycle.VolumeLost
	case pvc.Status.Phase == corev1.ClaimBound:
		view.State = lifecycle.VolumeBound
	case bindsLate:
		view.State = lifecycle.VolumeWaiting
	}
	return view
}

// jobViews converts the Workspace's movers for the engine. A Job exists as long as one of its Pods does, even if the Job
// object is gone (D18).
func jobViews(ws *v1alpha1.Workspace, jobs []batchv1.Job, pods []corev1.Pod) []lifecycle.Job {
	var views []lifecycle.Job
	known := map[string]bool{}
	for i := range jobs {
		job := &jobs[i]
		if !objects.Ours(ws, job) {
			continue
		}
		known[string(job.UID)] = true
		views = append(views, jobView(job, pods))
	}
	for i := range pods {
		pod := &pods[i]
		owner := jobOf(pod)
		if pod.Labels[objects.LabelRole] != objects.RoleMover || known[owner] {
			continue
		}
		known[owner] = true
		view := lifecycle.Job{
			Name: pod.Labels[batchv1.JobNameLabel], UID: owner, State: lifecycle.JobTerminating, VolumeUID: pod.Labels[objects.LabelVolumeUID],
		}
		view.OperationID, view.Attempt = objects.Origin(pod)
		views = append(views, view)
	}
	return views
}

func jobView(job *batchv1.Job, pods []corev1.Pod) lifecycle.Job {
	view := lifecycle.Job{
		Name: job.Name, UID: string(job.UID), State: lifecycle.JobRunning, VolumeUID: job.Labels[objects.LabelVolumeUID],
	}
	view.OperationID, view.Attempt = objects.Origin(job)
	for _, condition := range job.Status.Conditions {
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			view.State = lifecycle.JobSucceeded
		case batchv1.JobFailed:
			view.State = lifecycle.JobFailed
		}
	}
	if job.DeletionTimestamp != nil {
		view.State = lifecycle.JobTerminating
	}
	hasPod := slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return jobOf(&pod) == view.UID })
	if view.State == lifecycle.JobRunning && !hasPod {
		view.PodlessSince = job.CreationTimestamp.Time
	}
	result, _ := moverResult(view.UID, pods)
	view.State = moverEnd(view.State, result, view.UID, pods)
	if view.State == lifecycle.JobSucceeded && result.Code != mover.OK {
		view.State, result.Code = lifecycle.JobFailed, "" // the image is not a mover
	}
	if view.State == lifecycle.JobFailed {
		view.Reason, view.Code = failure(result.Code)
	}
	return view
}
