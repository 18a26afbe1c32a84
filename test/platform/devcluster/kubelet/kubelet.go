// Package kubelet is one node of a cluster without a kubelet or a scheduler: it registers the node, binds
// pending pods to it, keeps their status and finishes their deletion. What a pod does is up to a Runtime.
package kubelet

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

const workers = 8

// Runtime carries the pods of one node. Calls for one pod never overlap.
type Runtime interface {
	// Sync brings a bound, undeleted pod closer to its spec and returns the status it now has, built on the
	// pod's present one. A positive again asks for another call after that time; without it the next call
	// comes when the pod changes.
	Sync(ctx context.Context, pod *corev1.Pod, now time.Time) (status corev1.PodStatus, again time.Duration, err error)
	// Stop ends whatever runs under the name and reports whether nothing is left of it; it is called again
	// until then. pod is the deleted pod, and status the one that it ends with; nil when it is gone from the API.
	Stop(ctx context.Context, name types.NamespacedName, pod *corev1.Pod, now time.Time) (status corev1.PodStatus, gone bool, err error)
	// Log opens what the container wrote in one of its runs, the first being 0. It may be called at any time.
	Log(pod *corev1.Pod, container string, run int32) (Log, error)
}

// Notifier is a Runtime that announces by itself that a pod has something to report.
type Notifier interface {
	Notify(changed func(types.NamespacedName))
}

// Kubelet is the node's agent.
type Kubelet struct {
	client    kubernetes.Interface
	node      string
	runtime   Runtime
	informers informers.SharedInformerFactory
	pods      corelisters.PodLister
	queue     workqueue.TypedRateLimitingInterface[types.NamespacedName]
	listener  net.Listener

	awaitClaims bool
}

// New returns the agent of a node with that name. At listener, a port of nodeAddress, it answers the API
// server; the listener must reject all other clients.
func New(config *rest.Config, node string, runtime Runtime, listener net.Listener) (*Kubelet, error) {
	config = rest.CopyConfig(config)
	config.UserAgent += "/kubelet"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making the kubelet's client: %w", err)
	}
	// A pod must not wait long after a conflict or a restart of the API server.
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](5*time.Millisecond, time.Second)
	k := &Kubelet{
		client: client, node: node, runtime: runtime, listener: listener,
		informers: informers.NewSharedInformerFactory(client, 0),
		queue:     workqueue.NewTypedRateLimitingQueue(limiter),
	}
	if notifier, ok := runtime.(Notifier); ok {
		notifier.Notify(k.queue.Add)
	}
	k.pods = k.informers.Core().V1().Pods().Lister()
	_, err = k.informers.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    k.enqueue,
		UpdateFunc: func(_, pod any) { k.enqueue(pod) },
		DeleteFunc: k.enqueue,
	})
	return k, err
}

func (k *Kubelet) enqueue(object any) {
	key, err := cache.DeletionHandlingObjectToName(object)
	if err != nil {
		klog.ErrorS(err, "Pod event without a name")
		return
	}
	k.queue.Add(types.NamespacedName(key))
}

// Run registers the node and carries pods until ctx ends.
func (k *Kubelet) Run(ctx context.Context) {
	if err := wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, k.register); err != nil {
		return // ctx ended first
	}
	k.informers.Start(ctx.Done())
	k.informers.WaitForCacheSync(ctx.Done())
	var all sync.WaitGroup
	all.Go(func() { k.serve(ctx) })
	for range workers {
		all.Go(func() {
			for k.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	k.queue.ShutDown()
	all.Wait()
	k.informers.Shutdown()
}

func (k *Kubelet) next(ctx context.Context) bool {
	key, stopped := k.queue.Get()
	if stopped {
		return false
	}
	defer k.queue.Done(key)
	again, err := k.sync(ctx, key)
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		if !apierrors.IsConflict(err) && ctx.Err() == nil {
			klog.ErrorS(err, "Syncing a pod failed", "pod", key)
		}
		k.queue.AddRateLimited(key)
	case again > 0:
		k.queue.Forget(key)
		k.queue.AddAfter(key, again)
	default:
		k.queue.Forget(key)
	}
	return true
}

// sync takes the pod's next step.
func (k *Kubelet) sync(ctx context.Context, key types.NamespacedName) (again time.Duration, err error) {
	pod, err := k.pods.Pods(key.Namespace).Get(key.Name)
	switch {
	case apierrors.IsNotFound(err):
		_, again, err := k.stop(ctx, key, nil)
		return again, err
	case err != nil:
		return 0, err
	case pod.Spec.NodeName == "":
		return k.bind(ctx, pod)
	case pod.Spec.NodeName != k.node:
		return 0, nil
	case pod.DeletionTimestamp != nil:
		return k.finish(ctx, pod)
	}
	status, again, err := k.runtime.Sync(ctx, pod, time.Now())
	if err != nil {
		return 0, err
	}
	return again, k.report(ctx, pod, status)
}

// bind stands in for the scheduler: the one node takes every pod that asks for the default scheduler and
// is not held by a scheduling gate or its claims.
func (k *Kubelet) bind(ctx context.Context, pod *corev1.Pod) (again time.Duration, err error) {
	if pod.Spec.SchedulerName != corev1.DefaultSchedulerName || len(pod.Spec.SchedulingGates) > 0 || pod.DeletionTimestamp != nil {
		return 0, nil
	}
	if why, err := k.unclaimed(ctx, pod); err != nil {
		return 0, err
	} else if why != "" {
		return pollInterval, k.unschedulable(ctx, pod, why)
	}
	return 0, k.client.CoreV1().Pods(pod.Namespace).Bind(ctx, &corev1.Binding{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
		Target:     corev1.ObjectReference{Kind: "Node", Name: k.node},
	}, metav1.CreateOptions{})
}

// stop asks again soon until nothing is left.
func (k *Kubelet) stop(ctx context.Context, key types.NamespacedName, pod *corev1.Pod) (status corev1.PodStatus, again time.Duration, err error) {
	status, gone, err := k.runtime.Stop(ctx, key, pod, time.Now())
	if err == nil && !gone {
		again = pollInterval
	}
	return status, again, err
}

// finish stops a deleted pod and removes it from the API as soon as nothing is left of it.
func (k *Kubelet) finish(ctx context.Context, pod *corev1.Pod) (again time.Duration, err error) {
	status, again, err := k.stop(ctx, types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod)
	if err != nil || again > 0 {
		return again, err
	}
	// Only a finalizer lets anyone see the pod from here on; the Job controller's waits for a final phase.
	if len(pod.Finalizers) > 0 && !terminal(pod.Status.Phase) {
		return 0, k.report(ctx, pod, status)
	}
	if ptr.Deref(pod.DeletionGracePeriodSeconds, 1) == 0 {
		return 0, nil
	}
	return 0, k.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: ptr.To[int64](0), Preconditions: metav1.NewUIDPreconditions(string(pod.UID)),
	})
}

// report writes what changed in the status and nothing when nothing did. Conditions of other writers stay.
func (k *Kubelet) report(ctx context.Context, pod *corev1.Pod, status corev1.PodStatus) error {
	status.ObservedGeneration = pod.Generation
	if equality.Semantic.DeepEqual(pod.Status, status) {
		return nil
	}
	before, err := json.Marshal(corev1.Pod{Status: pod.Status})
	if err != nil {
		return err
	}
	// The UID gets into the patch, so a new pod of the same name is never given the old one's status.
	after, err := json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: pod.UID}, Status: status})
	if err != nil {
		return err
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(before, after, corev1.Pod{})
	if err != nil {
		return err
	}
	_, err = k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	return err
}
