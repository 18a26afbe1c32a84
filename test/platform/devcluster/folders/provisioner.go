// Package folders makes persistent volumes as folders of this machine: a StorageClass, and what its
// provisioner does. Binding is the persistent volume controller's.
package folders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-helpers/storage/volume"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

const (
	// Name is the classes' provisioner.
	Name = "kyklos.dev/folder"
	// isDefault marks the class of claims that name none.
	isDefault = "storageclass.kubernetes.io/is-default-class"
	workers   = 4
)

// classes are the default one, which waits for a first pod as most do, and one that does not.
func classes() []*storagev1.StorageClass {
	class := func(name string, mode storagev1.VolumeBindingMode) *storagev1.StorageClass {
		return &storagev1.StorageClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, Provisioner: Name, VolumeBindingMode: &mode,
			ReclaimPolicy: ptr.To(corev1.PersistentVolumeReclaimDelete), AllowVolumeExpansion: ptr.To(true),
		}
	}
	standard := class("standard", storagev1.VolumeBindingWaitForFirstConsumer)
	standard.Annotations = map[string]string{isDefault: "true"}
	return []*storagev1.StorageClass{standard, class("immediate", storagev1.VolumeBindingImmediate)}
}

// item is a claim, or with an empty namespace a volume.
type item = cache.ObjectName

// Provisioner makes a folder and a volume for each claim of its classes that asks for one, grows them on
// paper, and removes both when the claim is gone and the class says so.
type Provisioner struct {
	client    kubernetes.Interface
	dir       string
	informers informers.SharedInformerFactory
	queue     workqueue.TypedRateLimitingInterface[item]
}

// New returns a provisioner of folders in dir, which are named after their claims' UIDs.
func New(config *rest.Config, dir string) (*Provisioner, error) {
	config = rest.CopyConfig(config)
	config.UserAgent += "/provisioner"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the provisioner's client: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the folder of volumes: %w", err)
	}
	p := &Provisioner{
		client: client, dir: dir, informers: informers.NewSharedInformerFactory(client, 0),
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[item](5*time.Millisecond, time.Second)),
	}
	core := p.informers.Core().V1()
	for _, informer := range []cache.SharedIndexInformer{core.PersistentVolumeClaims().Informer(), core.PersistentVolumes().Informer()} {
		if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: p.enqueue, UpdateFunc: func(_, object any) { p.enqueue(object) },
		}); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Provisioner) enqueue(object any) {
	if name, err := cache.ObjectToName(object); err == nil {
		p.queue.Add(name)
	}
}

// Run makes the classes and serves them until ctx ends.
func (p *Provisioner) Run(ctx context.Context) {
	if err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, p.publish); err != nil {
		return // ctx ended first
	}
	p.informers.Start(ctx.Done())
	p.informers.WaitForCacheSync(ctx.Done())
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for p.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	p.queue.ShutDown()
	all.Wait()
	p.informers.Shutdown()
}

// publish is a poll condition: an error is logged and tried again.
func (p *Provisioner) publish(ctx context.Context) (bool, error) {
	for _, class := range classes() {
		_, err := p.client.StorageV1().StorageClasses().Create(ctx, class, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			if ctx.Err() == nil {
				klog.ErrorS(err, "Making a storage class failed", "class", class.Name)
			}
			return false, nil
		}
	}
	return true, nil
}

func (p *Provisioner) next(ctx context.Context) bool {
	name, stopped := p.queue.Get()
	if stopped {
		return false
	}
	defer p.queue.Done(name)
	err := p.sync(ctx, name)
	if err == nil || apierrors.IsNotFound(err) {
		p.queue.Forget(name)
		return true
	}
	if !apierrors.IsConflict(err) && ctx.Err() == nil {
		klog.ErrorS(err, "Syncing a claim or a volume failed", "name", name)
	}
	p.queue.AddRateLimited(name)
	return true
}

func (p *Provisioner) sync(ctx context.Context, name item) error {
	core := p.informers.Core().V1()
	if name.Namespace == "" {
		pv, err := core.PersistentVolumes().Lister().Get(name.Name)
		if err != nil {
			return err
		}
		return p.reclaim(ctx, pv)
	}
	claim, err := core.PersistentVolumeClaims().Lister().PersistentVolumeClaims(name.Namespace).Get(name.Name)
	switch {
	case err != nil:
		return err
	case claim.Annotations[volume.AnnStorageProvisioner] != Name || claim.DeletionTimestamp != nil:
		return nil
	case claim.Spec.VolumeName == "":
		return p.provision(ctx, claim)
	}
	return p.grow(ctx, claim)
}

// provision makes the claim's folder and its volume, which is the claim's from the start.
func (p *Provisioner) provision(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	folder := filepath.Join(p.dir, string(claim.UID))
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	// Any user in a pod may write, as with classes that do not know the pod's fsGroup.
	if err := os.Chmod(folder, 0o777); err != nil {
		return err
	}
	_, err := p.client.CoreV1().PersistentVolumes().Create(ctx, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{
			Name: "pvc-" + string(claim.UID), Annotations: map[string]string{volume.AnnDynamicallyProvisioned: Name},
		},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:    corev1.ResourceList{corev1.ResourceStorage: claim.Spec.Resources.Requests[corev1.ResourceStorage]},
			AccessModes: claim.Spec.AccessModes, StorageClassName: ptr.Deref(claim.Spec.StorageClassName, ""),
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete, VolumeMode: claim.Spec.VolumeMode,
			ClaimRef: &corev1.ObjectReference{
				APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: claim.Namespace, Name: claim.Name, UID: claim.UID,
			},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: folder}},
		},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// grow gives a bound claim the size that it asks for now: a folder has no size of its own.
func (p *Provisioner) grow(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	wanted, has := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
	if claim.Status.Phase != corev1.ClaimBound || wanted.Cmp(has) <= 0 {
		return nil
	}
	pv, err := p.client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		return err
	}
	pv.Spec.Capacity[corev1.ResourceStorage] = wanted
	if _, err := p.client.CoreV1().PersistentVolumes().Update(ctx, pv, metav1.UpdateOptions{}); err != nil {
		return err
	}
	grown := claim.DeepCopy()
	grown.Status.Capacity[corev1.ResourceStorage] = wanted
	_, err = p.client.CoreV1().PersistentVolumeClaims(claim.Namespace).UpdateStatus(ctx, grown, metav1.UpdateOptions{})
	return err
}

// reclaim removes a volume whose claim is gone, first its files.
func (p *Provisioner) reclaim(ctx context.Context, pv *corev1.PersistentVolume) error {
	if pv.Annotations[volume.AnnDynamicallyProvisioned] != Name || pv.Spec.HostPath == nil || pv.Status.Phase != corev1.VolumeReleased ||
		pv.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return nil
	}
	if filepath.Dir(pv.Spec.HostPath.Path) != p.dir {
		return fmt.Errorf("volume %s: %s is not in %s, so it is not removed", pv.Name, pv.Spec.HostPath.Path, p.dir)
	}
	if err := os.RemoveAll(pv.Spec.HostPath.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return p.client.CoreV1().PersistentVolumes().Delete(ctx, pv.Name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(pv.UID))})
}
