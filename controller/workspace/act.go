package workspace

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// act executes the planned action. If it is rejected, the engine decides again, so that the failure is recorded before
// anything else happens. It reports false if a status is to be written instead.
func (r *Reconciler) act(ctx context.Context, p plan) (plan, bool, error) {
	if p.decision.Act.Kind == lifecycle.ActNone {
		return p, false, nil
	}
	err := r.execute(ctx, p)
	rejected, ok := asRejection(err)
	if !ok {
		return p, true, err
	}
	p.rejected, p.err = rejected, err
	again, failed := r.plan(ctx, p.observation, p.answers)
	if failed == nil && again.decision.Act.Kind != lifecycle.ActNone {
		failed = err // the engine does not count it; the work queue backs off
	}
	return again, false, failed
}

// execute executes one action. The error is a *rejection if the engine counts it.
func (r *Reconciler) execute(ctx context.Context, p plan) error {
	ws, a := p.ws, p.decision.Act
	uid := types.UID(a.UID)
	switch a.Kind {
	case lifecycle.ActAddFinalizer:
		return classify(r.setFinalizer(ctx, ws, true))
	case lifecycle.ActRemoveFinalizer:
		if err := r.unname(ctx, p); err != nil {
			return err
		}
		return classify(r.setFinalizer(ctx, ws, false))
	case lifecycle.ActCreateVolume:
		pvc, err := objects.Volume(ws, a)
		return r.create(ctx, pvc, err)
	case lifecycle.ActMarkVolume:
		err := r.patchVolume(ctx, ws, objects.MarkPatch(a))
		if err == nil {
			r.Events.Publish(ws, p.now, p.restoredInPart()...)
		}
		return err
	case lifecycle.ActAdoptVolume:
		return r.patchVolume(ctx, ws, objects.AdoptPatch(ws, a))
	case lifecycle.ActReleaseVolume:
		return r.patchVolume(ctx, ws, objects.ReleasePatch(a))
	case lifecycle.ActDeleteVolume:
		pvc := &corev1.PersistentVolumeClaim{ObjectMeta: named(ws, objects.VolumeName(ws.Name))}
		return classify(r.Client.Delete(ctx, pvc, client.Preconditions{UID: &uid, ResourceVersion: &a.ResourceVersion}))
	case lifecycle.ActCreatePod:
		return r.createPod(ctx, ws, a)
	case lifecycle.ActDeletePod:
		pod := &corev1.Pod{ObjectMeta: named(ws, objects.PodName(ws.Name))}
		return classify(r.Client.Delete(ctx, pod, client.Preconditions{UID: &uid}))
	case lifecycle.ActCreateJob:
		return r.createJob(ctx, p)
	case lifecycle.ActDeleteJob:
		return r.deleteJob(ctx, ws, a)
	case lifecycle.ActKeepArchive:
		return rejectedByStore(r.Store.Keep(ctx, storeSecret(ws), a.Key, ws.Name))
	}
	return fmt.Errorf("unknown action %s", a.Kind)
}

func named(ws *v1alpha1.Workspace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: ws.Namespace, Name: name}
}

// setFinalizer writes metadata.finalizers, the only field of a Workspace besides its status that Kyklos writes (W2), at the
// resourceVersion that was read.
func (r *Reconciler) setFinalizer(ctx context.Context, ws *v1alpha1.Workspace, on bool) error {
	next := ws.DeepCopy()
	if on {
		controllerutil.AddFinalizer(next, objects.Finalizer)
	} else {
		controllerutil.RemoveFinalizer(next, objects.Finalizer)
	}
	return r.Client.Patch(ctx, next, client.MergeFromWithOptions(ws, client.MergeFromWithOptimisticLock{}))
}

// create creates an object, unless it could not be built.
func (r *Reconciler) create(ctx context.Context, object client.Object, buildErr error) error {
	if buildErr != nil {
		return rejectedForGood(buildErr)
	}
	return classify(r.Client.Create(ctx, object))
}

func (r *Reconciler) patchVolume(ctx context.Context, ws *v1alpha1.Workspace, patch []byte) error {
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: named(ws, objects.VolumeName(ws.Name))}
	return classify(r.Client.Patch(ctx, pvc, client.RawPatch(types.MergePatchType, patch)))
}

// deleteJob deletes a mover: first the upload of its ticket, then the Job, whose object stays until its Pods are gone (D18).
func (r *Reconciler) deleteJob(ctx context.Context, ws *v1alpha1.Workspace, a lifecycle.Action) error {
	if err := r.endTicket(ctx, ws, a.Name); err != nil {
		return classify(err)
	}
	uid := types.UID(a.UID)
	job := &batchv1.Job{ObjectMeta: named(ws, a.Name)}
	return classify(r.Client.Delete(ctx, job, client.Preconditions{UID: &uid}, client.PropagationPolicy(metav1.DeletePropagationForeground)))
}
