package workspace

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// act carries out one action. Its error is a *refused, if the engine is to count it.
func (p *pass) act(ctx context.Context, a lifecycle.Action) error {
	switch a.Kind {
	case lifecycle.ActAddFinalizer, lifecycle.ActRemoveFinalizer:
		return judged(p.setFinalizer(ctx, a.Kind == lifecycle.ActAddFinalizer))
	case lifecycle.ActCreateVolume:
		claim, err := objects.Volume(p.ws, a)
		return p.create(ctx, claim, err)
	case lifecycle.ActMarkVolume:
		return p.patchVolume(ctx, objects.MarkPatch(a))
	case lifecycle.ActReleaseVolume:
		return p.patchVolume(ctx, objects.ReleasePatch(a))
	case lifecycle.ActDeleteVolume:
		claim := &corev1.PersistentVolumeClaim{ObjectMeta: p.named(objects.VolumeName(p.ws.Name))}
		return p.delete(ctx, claim, client.Preconditions{UID: uid(a), ResourceVersion: &a.ResourceVersion})
	case lifecycle.ActCreatePod:
		pod, err := objects.Pod(p.ws, a)
		return p.create(ctx, pod, err)
	case lifecycle.ActDeletePod:
		return p.delete(ctx, &corev1.Pod{ObjectMeta: p.named(objects.PodName(p.ws.Name))}, client.Preconditions{UID: uid(a)})
	case lifecycle.ActCreateJob:
		return p.createJob(ctx, a)
	case lifecycle.ActDeleteJob:
		return p.deleteJob(ctx, a)
	case lifecycle.ActKeepArchive:
		if err := p.Stores.Keep(ctx, p.store(), a.Key); err != nil {
			return refusedByStore(err)
		}
		return nil
	}
	return fmt.Errorf("the action %s is unknown", a.Kind)
}

func uid(a lifecycle.Action) *types.UID { return ptr.To(types.UID(a.UID)) }

func (p *pass) named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: p.ws.Namespace, Name: name}
}

// setFinalizer writes metadata.finalizers, the only thing that is ever written to a Workspace beside
// its status (W2), and only on what was read.
func (p *pass) setFinalizer(ctx context.Context, on bool) error {
	next := p.ws.DeepCopy()
	if on {
		controllerutil.AddFinalizer(next, objects.Finalizer)
	} else {
		controllerutil.RemoveFinalizer(next, objects.Finalizer)
	}
	return p.Client.Patch(ctx, next, client.MergeFromWithOptions(p.ws, client.MergeFromWithOptimisticLock{}))
}

// create makes an object, unless it could not even be built.
func (p *pass) create(ctx context.Context, object client.Object, unbuilt error) error {
	if unbuilt != nil {
		return refusedForGood(unbuilt)
	}
	return judged(p.Client.Create(ctx, object))
}

func (p *pass) delete(ctx context.Context, object client.Object, options ...client.DeleteOption) error {
	return judged(p.Client.Delete(ctx, object, options...))
}

func (p *pass) patchVolume(ctx context.Context, patch []byte) error {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: p.named(objects.VolumeName(p.ws.Name))}
	return judged(p.Client.Patch(ctx, claim, client.RawPatch(types.MergePatchType, patch)))
}

// deleteJob ends a mover: first what its ticket began, then the Job, whose object stays until its Pods
// are gone (D18).
func (p *pass) deleteJob(ctx context.Context, a lifecycle.Action) error {
	if err := p.endTicket(ctx, a.Name); err != nil {
		return judged(err)
	}
	job := &batchv1.Job{ObjectMeta: p.named(a.Name)}
	return p.delete(ctx, job, client.Preconditions{UID: uid(a)}, client.PropagationPolicy(metav1.DeletePropagationForeground))
}
