package lifecycle_test

import (
	"fmt"
	"slices"

	"kyklos.io/kyklos/internal/lifecycle"
)

// apply executes an action, as the API server would: names are unique, UIDs are preconditions.
func (w *world) apply(a lifecycle.Action) {
	switch a.Kind {
	case lifecycle.ActAddFinalizer:
		w.ws.Finalizer = !w.ws.Deleting || w.ws.Finalizer
	case lifecycle.ActRemoveFinalizer:
		if a.Unname && w.storeUp && w.bucket {
			w.unname()
		}
		w.ws.Finalizer, w.gone = false, w.ws.Deleting
	case lifecycle.ActCreatePod:
		if w.pod == nil {
			w.pod = &pod{uid: w.id(), op: a.OperationID, attempt: a.Attempt, state: lifecycle.PodNotReady}
		}
	case lifecycle.ActDeletePod:
		if w.pod != nil && w.pod.uid == a.UID {
			w.pod.state = lifecycle.PodTerminating
		}
	case lifecycle.ActCreateJob:
		w.createJob(a)
	case lifecycle.ActDeleteJob:
		for _, j := range w.jobs {
			if j.UID == a.UID {
				j.State = lifecycle.JobTerminating
			}
		}
	case lifecycle.ActKeepArchive:
		w.keep(a.Key)
	default:
		w.applyToVolume(a)
	}
	w.finishDeletion()
}

func (w *world) applyToVolume(a lifecycle.Action) {
	if a.Kind == lifecycle.ActCreateVolume {
		if w.vol == nil {
			w.vol = &volume{uid: w.id(), op: a.OperationID, made: w.storage, state: lifecycle.VolumePending}
		}
		return
	}
	if w.vol == nil || w.vol.uid != a.UID {
		return
	}
	if a.Kind == lifecycle.ActAdoptVolume && (w.ws.Adopts == w.vol.uid || w.vol.left()) {
		w.vol.foreign, w.vol.release = false, false
		w.vol.marker = a.Marker
		w.vol.rv++
		return
	}
	if w.vol.foreign {
		w.fault("%s on a stranger's volume", a.Kind)
	}
	switch a.Kind {
	case lifecycle.ActMarkVolume:
		w.vol.marker = a.Marker
		w.vol.rv++
	case lifecycle.ActReleaseVolume:
		w.vol.release = true
		w.vol.rv++
	case lifecycle.ActDeleteVolume:
		if a.ResourceVersion == fmt.Sprint(w.vol.rv) {
			w.vol.state = lifecycle.VolumeTerminating
		}
	}
}

func (w *world) createJob(a lifecycle.Action) {
	if slices.ContainsFunc(w.jobs, func(j *job) bool { return j.Name == a.Name }) {
		return
	}
	if len(a.Name) > 63 {
		w.fault("the Job's name is too long: %s", a.Name)
	}
	w.jobs = append(w.jobs, &job{
		Job: lifecycle.Job{
			Name: a.Name, UID: w.id(), State: lifecycle.JobRunning, OperationID: a.OperationID, Attempt: a.Attempt, VolumeUID: a.UID,
		},
		key: a.Key, epoch: a.Epoch, store: w.store,
	})
}

// finishDeletion removes a volume that is being deleted as soon as no Pod uses it, even an ended one (D18).
func (w *world) finishDeletion() {
	if w.vol != nil && w.vol.state == lifecycle.VolumeTerminating && (w.pod == nil || w.pod.foreign) && w.debug == 0 && len(w.jobs) == 0 {
		w.logf("volume %s is gone", w.vol.uid)
		w.vol = nil
	}
}

// onVolume reports whether the Pod runs on the volume.
func (w *world) onVolume() bool {
	return w.pod != nil && !w.pod.foreign && w.pod.state != lifecycle.PodEnded && w.pod.state != lifecycle.PodNotReady && w.vol != nil
}

// kubelet advances the Pod and the volume by one step.
func (w *world) kubelet() {
	if w.vol != nil && w.vol.state == lifecycle.VolumePending {
		w.vol.state = lifecycle.VolumeBound
		if w.ids%3 == 0 {
			w.vol.state = lifecycle.VolumeWaiting
		}
		return
	}
	switch {
	case w.pod == nil || w.pod.foreign:
	case w.pod.state == lifecycle.PodTerminating:
		w.pod = nil
	case w.pod.state == lifecycle.PodNotReady && w.vol != nil && !w.vol.foreign && w.vol.state != lifecycle.VolumeTerminating && w.vol.state != lifecycle.VolumeLost:
		w.pod.state = lifecycle.PodReady
		w.logf("the Pod is ready")
		w.shows()
	}
	w.finishDeletion()
}

// mover advances a Job's process by one step. fails makes it fail there.
func (w *world) mover(j *job, fails bool) {
	if j.State == lifecycle.JobTerminating {
		w.jobs = slices.DeleteFunc(w.jobs, func(other *job) bool { return other == j })
		w.finishDeletion()
		return
	}
	if j.State != lifecycle.JobRunning {
		return
	}
	archives := j.key == lifecycle.ArchiveKey(w.ws.UID, j.OperationID)
	needs := !archives || j.stage == 0 // later it has read everything
	if fails || needs && (w.vol == nil || w.vol.uid != j.VolumeUID) || !w.storeUp || !w.bucket {
		j.State, j.Reason, j.Code = lifecycle.JobFailed, lifecycle.ActionFailed, lifecycle.CodeJobFailed
		return
	}
	if archives {
		w.archiveStep(j)
	} else {
		w.restoreStep(j)
	}
}

// restoreStep restores by one rename, and does not touch a restored home.
func (w *world) restoreStep(j *job) {
	object := w.objects[place(j.store, j.key)]
	switch {
	case object == nil || object.away:
		j.State, j.Reason, j.Code = lifecycle.JobFailed, lifecycle.DataLost, lifecycle.CodeArchiveLost
	case object.corrupt || object.marked != object.sum:
		j.State, j.Reason, j.Code = lifecycle.JobFailed, lifecycle.DataLost, lifecycle.CodeArchiveCorrupt
	case j.stage < 2:
		j.stage++
	case w.vol.disk != "":
		j.State = lifecycle.JobSucceeded
	default:
		w.vol.version, w.vol.disk = object.version, j.OperationID
		j.State = lifecycle.JobSucceeded
	}
}

// archiveStep follows the protocol: read; put the data conditionally; compare what is stored with the
// volume; put the marker, conditionally, about what is stored.
func (w *world) archiveStep(j *job) {
	stored := w.objects[place(j.store, j.key)]
	switch j.stage {
	case 0:
		j.version = w.vol.version
	case 1:
		if stored == nil {
			w.objects[place(j.store, j.key)] = &object{version: j.version, sum: j.UID, at: w.now}
		} else if w.overwrite {
			stored.version, stored.sum = j.version, j.UID
		}
	case 2:
		if w.vol != nil && w.vol.uid == j.VolumeUID {
			j.version = w.vol.version // the tree is read once more
		}
		if stored == nil || stored.version != j.version {
			j.State, j.Reason, j.Code = lifecycle.JobFailed, lifecycle.ActionFailed, lifecycle.CodeJobFailed
			if stored != nil && stored.marked == "" {
				delete(w.objects, place(j.store, j.key))
			}
			return
		}
		if stored.marked == "" {
			stored.marked, stored.volumeUID, stored.epoch = stored.sum, j.VolumeUID, j.epoch
		}
	default:
		j.State = lifecycle.JobSucceeded
	}
	j.stage++
}
