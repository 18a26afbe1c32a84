package workspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

// depth is how much is read from the API server itself.
type depth int

const (
	cached   depth = iota // nothing
	live                  // the Workspace and its objects
	livePods              // and all Pods of its namespace
)

// observation is what was read about a Workspace, and the same for the engine.
type observation struct {
	now    time.Time
	depth  depth
	ws     *v1alpha1.Workspace
	pod    *corev1.Pod
	pvc    *corev1.PersistentVolumeClaim
	jobs   []batchv1.Job
	movers []corev1.Pod // of jobs, and of Jobs that are gone
	others int          // Pods of others that use the volume
	// bindsLate: the storage class binds the volume when a Pod uses it.
	bindsLate bool
	// noClass is the name of the volume's storage class, if it does not exist.
	noClass string
	// namespaceTerminating: D24.
	namespaceTerminating bool

	spec      lifecycle.Workspace
	status    lifecycle.Status
	view      lifecycle.Observation
	available available
}

// observe reads everything that a decision about ws depends on. The engine learns whether objects could not be read.
func (r *Reconciler) observe(ctx context.Context, ws *v1alpha1.Workspace, d depth, now time.Time) (observation, error) {
	o := observation{now: now, depth: d, ws: ws}
	if d >= live {
		o.ws = &v1alpha1.Workspace{}
		if err := r.APIReader.Get(ctx, client.ObjectKeyFromObject(ws), o.ws); err != nil {
			return o, err
		}
		if o.ws.UID != ws.UID { // the answers of this pass are about the other one
			return o, apierrors.NewConflict(v1alpha1.GroupVersion.WithResource("workspaces").GroupResource(), ws.Name, errRecreated)
		}
	}
	err := r.readObjects(ctx, &o)
	switch {
	case err == nil:
		o.view = o.convert()
	case ctx.Err() != nil:
		return o, err
	default:
		log.FromContext(ctx).Error(err, "Cannot read the objects of the Workspace; retrying")
		o.view = lifecycle.Observation{Failed: true}
	}
	o.spec = statusconv.Spec(o.ws, o.namespaceTerminating)
	o.status = statusconv.Read(o.ws)
	o.available, err = r.reservations.available(ctx, o.ws, o.status, now)
	return o, err
}

var errRecreated = errors.New("the Workspace was deleted and created again")

// convert returns the observation for the engine.
func (o *observation) convert() lifecycle.Observation {
	return lifecycle.Observation{
		Live: o.depth >= live, PodsLive: o.depth == livePods, OtherPods: o.others,
		Pod: podView(o.ws, o.pod), Volume: volumeView(o.ws, o.pvc, o.bindsLate), Jobs: jobViews(o.ws, o.jobs, o.movers),
	}
}

func (r *Reconciler) readObjects(ctx context.Context, o *observation) error {
	ws := o.ws
	reader, own := client.Reader(r.Client), client.ListOption(client.MatchingFields{uidIndex: string(ws.UID)})
	if o.depth >= live {
		reader, own = r.APIReader, client.MatchingLabels{objects.LabelWorkspaceUID: string(ws.UID)}
	}
	var err error
	if o.pod, err = get(ctx, reader, ws.Namespace, objects.PodName(ws.Name), &corev1.Pod{}); err != nil {
		return err
	}
	if o.pvc, err = get(ctx, reader, ws.Namespace, objects.VolumeName(ws.Name), &corev1.PersistentVolumeClaim{}); err != nil {
		return err
	}
	var jobs batchv1.JobList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&jobs, &pods} {
		if err := reader.List(ctx, list, client.InNamespace(ws.Namespace), own); err != nil {
			return fmt.Errorf("list movers: %w", err)
		}
	}
	o.jobs, o.movers = jobs.Items, pods.Items
	if o.bindsLate, o.noClass, err = r.bindsLate(ctx, o.pvc); err != nil {
		return err
	}
	if o.namespaceTerminating, err = r.namespaceTerminating(ctx, ws); err != nil || o.depth < livePods {
		return err
	}
	o.others, err = r.otherPods(ctx, o)
	return err
}

// get reads one object. It returns nil if the object does not exist.
func get[T client.Object](ctx context.Context, reader client.Reader, namespace, name string, object T) (T, error) {
	var none T
	err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, object)
	switch {
	case apierrors.IsNotFound(err):
		return none, nil
	case err != nil:
		return none, fmt.Errorf("read %s: %w", name, err)
	}
	return object, nil
}

// otherPods counts the Pods, in any phase, that use the volume, except the Workspace's own and its movers.
func (r *Reconciler) otherPods(ctx context.Context, o *observation) (int, error) {
	var all corev1.PodList
	if err := r.APIReader.List(ctx, &all, client.InNamespace(o.ws.Namespace)); err != nil {
		return 0, fmt.Errorf("list Pods that may use the volume: %w", err)
	}
	known := map[types.UID]bool{}
	if o.pod != nil && objects.Ours(o.ws, o.pod) {
		known[o.pod.UID] = true
	}
	for i := range o.movers {
		if o.movers[i].Labels[objects.LabelRole] == objects.RoleMover {
			known[o.movers[i].UID] = true
		}
	}
	count := 0
	for i := range all.Items {
		if !known[all.Items[i].UID] && uses(&all.Items[i], objects.VolumeName(o.ws.Name)) {
			count++
		}
	}
	return count, nil
}

// uses reports whether a Pod mounts the PersistentVolumeClaim.
func uses(pod *corev1.Pod, pvc string) bool {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName == pvc {
			return true
		}
	}
	return false
}

// bindsLate reports whether a PersistentVolumeClaim that is not bound waits for a Pod (D19), and the name of its class if that
// does not exist. A class never changes its mode. Without permission to read classes, it is assumed to.
func (r *Reconciler) bindsLate(ctx context.Context, pvc *corev1.PersistentVolumeClaim) (late bool, missing string, err error) {
	if pvc == nil || pvc.Status.Phase == corev1.ClaimBound || pvc.Spec.StorageClassName == nil || *pvc.Spec.StorageClassName == "" {
		return false, "", nil
	}
	name := *pvc.Spec.StorageClassName
	if late, known := r.classes.Load(name); known {
		return late.(bool), "", nil
	}
	if r.NoClasses {
		return true, "", nil
	}
	class, err := get(ctx, r.APIReader, "", name, &storagev1.StorageClass{})
	switch {
	case apierrors.IsForbidden(err):
		return true, "", nil
	case err != nil:
		return false, "", err
	case class == nil:
		return false, name, nil
	}
	late = class.VolumeBindingMode != nil && *class.VolumeBindingMode == storagev1.VolumeBindingWaitForFirstConsumer
	r.classes.Store(name, late)
	return late, "", nil
}

// namespaceTerminating is read only for a deletion that keeps the home.
func (r *Reconciler) namespaceTerminating(ctx context.Context, ws *v1alpha1.Workspace) (bool, error) {
	if ws.DeletionTimestamp == nil || ws.Spec.DeletionPolicy == v1alpha1.DeletionDelete {
		return false, nil
	}
	namespace, err := get(ctx, r.APIReader, "", ws.Namespace, &corev1.Namespace{})
	if apierrors.IsForbidden(err) {
		return false, nil // if it is terminating, the API server rejects new objects, and the operation fails
	}
	return err == nil && (namespace == nil || namespace.DeletionTimestamp != nil), err
}
