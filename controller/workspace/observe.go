package workspace

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// depth is how much a look asks the API server itself.
type depth int

const (
	cached   depth = iota // nothing: the caches tell
	live                  // the Workspace and what it made
	livePods              // and every Pod in its namespace
)

// sight is what one look found.
type sight struct {
	depth  depth
	pod    *corev1.Pod
	claim  *corev1.PersistentVolumeClaim
	jobs   []batchv1.Job
	movers []corev1.Pod // the Pods of jobs, and of Jobs that are gone
	others int
	// waits: the claim's class binds it when a Pod comes.
	waits bool
	// leaving: the namespace is going (D24).
	leaving bool
}

// view is the sight in the engine's words.
func (s *sight) view(ws *v1alpha1.Workspace) lifecycle.Observation {
	return lifecycle.Observation{
		Live: s.depth >= live, PodsLive: s.depth == livePods, OtherPods: s.others,
		Pod: podView(ws, s.pod), Volume: volumeView(ws, s.claim, s.waits), Jobs: jobViews(ws, s.jobs, s.movers),
	}
}

// observe reads everything that a decision about ws rests on.
func (r *Reconciler) observe(ctx context.Context, ws *v1alpha1.Workspace, d depth) (sight, error) {
	reader, mine := client.Reader(r.Client), client.ListOption(client.MatchingFields{uidIndex: string(ws.UID)})
	if d >= live {
		reader, mine = r.APIReader, client.MatchingLabels{objects.LabelWorkspaceUID: string(ws.UID)}
	}
	s := sight{depth: d}
	var err error
	if s.pod, err = found(ctx, reader, ws.Namespace, objects.PodName(ws.Name), &corev1.Pod{}); err != nil {
		return s, err
	}
	if s.claim, err = found(ctx, reader, ws.Namespace, objects.VolumeName(ws.Name), &corev1.PersistentVolumeClaim{}); err != nil {
		return s, err
	}
	var jobs batchv1.JobList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&jobs, &pods} {
		if err := reader.List(ctx, list, client.InNamespace(ws.Namespace), mine); err != nil {
			return s, fmt.Errorf("list the movers: %w", err)
		}
	}
	s.jobs, s.movers = jobs.Items, pods.Items
	if s.waits, err = r.waits(ctx, s.claim); err != nil {
		return s, err
	}
	if s.leaving, err = r.leaving(ctx, ws); err != nil || d < livePods {
		return s, err
	}
	s.others, err = r.otherPods(ctx, ws, &s)
	return s, err
}

// found reads one object; nil if there is none.
func found[T client.Object](ctx context.Context, reader client.Reader, namespace, name string, object T) (T, error) {
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

// otherPods counts the Pods that use the Workspace's volume beside its own and its movers, in any phase.
func (r *Reconciler) otherPods(ctx context.Context, ws *v1alpha1.Workspace, s *sight) (int, error) {
	var all corev1.PodList
	if err := r.APIReader.List(ctx, &all, client.InNamespace(ws.Namespace)); err != nil {
		return 0, fmt.Errorf("list the Pods that may use the volume: %w", err)
	}
	known := map[types.UID]bool{}
	if s.pod != nil && objects.Ours(ws, s.pod) {
		known[s.pod.UID] = true
	}
	for i := range s.movers {
		if s.movers[i].Labels[objects.LabelRole] == objects.RoleMover {
			known[s.movers[i].UID] = true
		}
	}
	count := 0
	for i := range all.Items {
		if !known[all.Items[i].UID] && uses(&all.Items[i], objects.VolumeName(ws.Name)) {
			count++
		}
	}
	return count, nil
}

// uses reports whether a Pod has the claim as a volume.
func uses(pod *corev1.Pod, claim string) bool {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim != nil && volume.PersistentVolumeClaim.ClaimName == claim {
			return true
		}
	}
	return false
}

// waits reports whether a claim that is not bound yet will be when a Pod comes (D19). A class never
// changes its mode. Whoever may not read classes cannot tell, and lets the Pod come.
func (r *Reconciler) waits(ctx context.Context, claim *corev1.PersistentVolumeClaim) (bool, error) {
	if claim == nil || claim.Status.Phase == corev1.ClaimBound || claim.Spec.StorageClassName == nil || *claim.Spec.StorageClassName == "" {
		return false, nil
	}
	name := *claim.Spec.StorageClassName
	if late, known := r.classes.Load(name); known {
		return late.(bool), nil
	}
	if r.NoClasses {
		return true, nil
	}
	class, err := found(ctx, r.APIReader, "", name, &storagev1.StorageClass{})
	if apierrors.IsForbidden(err) {
		return true, nil
	}
	if err != nil || class == nil {
		return false, err
	}
	r.classes.Store(name, bindsLate(class))
	return bindsLate(class), nil
}

// leaving reports whether the namespace is going. Only a deletion that wants to save the home asks.
func (r *Reconciler) leaving(ctx context.Context, ws *v1alpha1.Workspace) (bool, error) {
	if ws.DeletionTimestamp == nil || ws.Spec.DeletionPolicy == v1alpha1.DeletionDelete {
		return false, nil
	}
	namespace, err := found(ctx, r.APIReader, "", ws.Namespace, &corev1.Namespace{})
	if apierrors.IsForbidden(err) {
		return false, nil // then the API server refuses what is to be made, and the operation fails
	}
	return err == nil && (namespace == nil || namespace.DeletionTimestamp != nil), err
}
