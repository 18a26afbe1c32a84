package timewindowscaler

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// CacheOptions keeps of each watched object only what Kyklos looks at: no pod templates, no
// ConfigMap values, no managed fields. namespaces is what to watch; none means all.
func CacheOptions(namespaces []string) cache.Options {
	options := cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&appsv1.Deployment{}:                     {Transform: stripDeployment},
			&appsv1.StatefulSet{}:                    {Transform: stripStatefulSet},
			&appsv1.DaemonSet{}:                      {Transform: stripDaemonSet},
			&corev1.ConfigMap{}:                      {Transform: stripConfigMap},
			&autoscalingv2.HorizontalPodAutoscaler{}: {Transform: stripAutoscaler},
		},
	}
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

func stripDeployment(obj any) (any, error) {
	d, ok := obj.(*appsv1.Deployment)
	if !ok {
		return obj, nil
	}
	return &appsv1.Deployment{
		ObjectMeta: identity(&d.ObjectMeta),
		Spec:       appsv1.DeploymentSpec{Replicas: d.Spec.Replicas},
		Status:     appsv1.DeploymentStatus{Replicas: d.Status.Replicas, ReadyReplicas: d.Status.ReadyReplicas},
	}, nil
}

func stripStatefulSet(obj any) (any, error) {
	s, ok := obj.(*appsv1.StatefulSet)
	if !ok {
		return obj, nil
	}
	return &appsv1.StatefulSet{
		ObjectMeta: identity(&s.ObjectMeta),
		Spec:       appsv1.StatefulSetSpec{Replicas: s.Spec.Replicas},
		Status:     appsv1.StatefulSetStatus{Replicas: s.Status.Replicas, ReadyReplicas: s.Status.ReadyReplicas},
	}, nil
}

// stripConfigMap keeps the keys: dates are keys, and values are not read (R4).
func stripConfigMap(obj any) (any, error) {
	c, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return obj, nil
	}
	stripped := &corev1.ConfigMap{ObjectMeta: identity(&c.ObjectMeta), Data: make(map[string]string, len(c.Data))}
	for key := range c.Data {
		stripped.Data[key] = ""
	}
	return stripped, nil
}

func stripAutoscaler(obj any) (any, error) {
	a, ok := obj.(*autoscalingv2.HorizontalPodAutoscaler)
	if !ok {
		return obj, nil
	}
	return &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: identity(&a.ObjectMeta),
		Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: a.Spec.ScaleTargetRef},
	}, nil
}

func identity(m *metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:         m.Namespace,
		Name:              m.Name,
		UID:               m.UID,
		ResourceVersion:   m.ResourceVersion,
		DeletionTimestamp: m.DeletionTimestamp,
	}
}
