package target

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/targetkind"
)

// Counts is what the cache keeps of a Deployment or StatefulSet. As such, even an empty one takes more than a kilobyte: a
// pod template is part of the struct.
type Counts struct {
	metav1.ObjectMeta
	// Desired is the count of the spec; Observed and Ready are those of the status.
	Desired, Observed, Ready int32
}

// countsFrom returns the Counts of an object that the API server answered, or that the cache keeps.
func countsFrom(object client.Object) *Counts {
	switch o := object.(type) {
	case *appsv1.Deployment:
		return &Counts{targetkind.Identity(&o.ObjectMeta), ptr.Deref(o.Spec.Replicas, 1), o.Status.Replicas, o.Status.ReadyReplicas}
	case *appsv1.StatefulSet:
		return &Counts{targetkind.Identity(&o.ObjectMeta), ptr.Deref(o.Spec.Replicas, 1), o.Status.Replicas, o.Status.ReadyReplicas}
	default:
		return object.(*Counts)
	}
}

// GetObjectKind implements runtime.Object. The kind is that of the informer.
func (c *Counts) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object.
func (c *Counts) DeepCopyObject() runtime.Object {
	return &Counts{*c.DeepCopy(), c.Desired, c.Observed, c.Ready}
}

// Expand makes into the object that c was kept of.
func (c *Counts) Expand(into client.Object) {
	kept, replicas := *c.DeepCopy(), ptr.To(c.Desired)
	switch object := into.(type) {
	case *appsv1.Deployment:
		*object = appsv1.Deployment{
			ObjectMeta: kept, Spec: appsv1.DeploymentSpec{Replicas: replicas},
			Status: appsv1.DeploymentStatus{Replicas: c.Observed, ReadyReplicas: c.Ready},
		}
	case *appsv1.StatefulSet:
		*object = appsv1.StatefulSet{
			ObjectMeta: kept, Spec: appsv1.StatefulSetSpec{Replicas: replicas},
			Status: appsv1.StatefulSetStatus{Replicas: c.Observed, ReadyReplicas: c.Ready},
		}
	}
}

// KeptAsCounts reports whether the cache keeps the Counts of such objects.
func KeptAsCounts(object runtime.Object) bool {
	switch object.(type) {
	case *appsv1.Deployment, *appsv1.StatefulSet:
		return true
	default:
		return false
	}
}

func (c *Counts) target() Target {
	return &Replicated{Common{UID: c.UID, ResourceVersion: c.ResourceVersion, Spec: c.Desired, Observed: c.Observed, Ready: c.Ready}}
}
