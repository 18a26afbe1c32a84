package judge

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// builtInKind is a kind that every cluster has.
type builtInKind struct {
	name              string
	namespaced, scale bool
}

// builtIn are the kinds of the groups whose names have no dot. No CustomResourceDefinition can add to
// these groups, so what is not here is in no cluster.
var builtIn = []struct {
	version schema.GroupVersion
	kinds   []builtInKind
}{
	{appsv1.SchemeGroupVersion, []builtInKind{
		{"ControllerRevision", true, false}, {"DaemonSet", true, false}, {"Deployment", true, true}, {"ReplicaSet", true, true}, {"StatefulSet", true, true},
	}},
	{corev1.SchemeGroupVersion, []builtInKind{
		{"ComponentStatus", false, false}, {"ConfigMap", true, false}, {"Endpoints", true, false}, {"Event", true, false}, {"LimitRange", true, false},
		{"Namespace", false, false}, {"Node", false, false}, {"PersistentVolume", false, false}, {"PersistentVolumeClaim", true, false},
		{"Pod", true, false}, {"PodTemplate", true, false}, {"ReplicationController", true, true}, {"ResourceQuota", true, false},
		{"Secret", true, false}, {"Service", true, false}, {"ServiceAccount", true, false}, {"Binding", true, false},
	}},
	{batchv1.SchemeGroupVersion, []builtInKind{{"CronJob", true, false}, {"Job", true, false}}},
	{autoscalingv1.SchemeGroupVersion, []builtInKind{{"HorizontalPodAutoscaler", true, false}}},
	{autoscalingv2.SchemeGroupVersion, []builtInKind{{"HorizontalPodAutoscaler", true, false}}},
	{policyv1.SchemeGroupVersion, []builtInKind{{"PodDisruptionBudget", true, false}}},
}
