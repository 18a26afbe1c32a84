package kubelet

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/utils/ptr"
)

// AwaitClaims makes the node stand in for the scheduler with volumes too: a pod is bound when all its
// claims are, and a claim whose class waits for a first consumer learns by it where to be made.
// Without it, pods are bound at once and claims are ignored.
func (k *Kubelet) AwaitClaims() { k.awaitClaims = true }

// unclaimed returns why the pod cannot be bound yet, worded as by the scheduler; "" if it can.
func (k *Kubelet) unclaimed(ctx context.Context, pod *corev1.Pod) (why string, err error) {
	if !k.awaitClaims {
		return "", nil
	}
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		name := v.PersistentVolumeClaim.ClaimName
		claim, err := k.client.CoreV1().PersistentVolumeClaims(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return fmt.Sprintf("persistentvolumeclaim %q not found", name), nil
		case err != nil:
			return "", err
		case claim.DeletionTimestamp != nil:
			return fmt.Sprintf("persistentvolumeclaim %q is being deleted", name), nil
		case claim.Status.Phase == corev1.ClaimLost:
			return fmt.Sprintf("persistentvolumeclaim %q bound to non-existent persistentvolume %q", name, claim.Spec.VolumeName), nil
		case claim.Status.Phase != corev1.ClaimBound:
			why = "pod has unbound immediate PersistentVolumeClaims"
			if err := k.choose(ctx, claim); err != nil {
				return "", err
			}
		}
	}
	return why, nil
}

// choose assigns a claim that waits for its first consumer to this node.
func (k *Kubelet) choose(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	class, err := k.client.StorageV1().StorageClasses().Get(ctx, ptr.Deref(claim.Spec.StorageClassName, ""), metav1.GetOptions{})
	if err != nil || ptr.Deref(class.VolumeBindingMode, "") != storagev1.VolumeBindingWaitForFirstConsumer ||
		claim.Annotations[volume.AnnSelectedNode] != "" {
		return ignoreNotFound(err)
	}
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:%q}}}`, claim.UID, volume.AnnSelectedNode, k.node)
	_, err = k.client.CoreV1().PersistentVolumeClaims(claim.Namespace).Patch(ctx, claim.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// unschedulable reports why the pod is not bound.
func (k *Kubelet) unschedulable(ctx context.Context, pod *corev1.Pod, why string) error {
	status := *pod.Status.DeepCopy()
	setCondition(&status, time.Now(), corev1.PodCondition{
		Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available: " + why,
	})
	return k.report(ctx, pod, status)
}
