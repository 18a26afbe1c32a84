package timewindowscaler

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/kindwatch"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/targetkind"
)

// CacheOptions keeps of each watched object only what Kyklos uses: no pod templates, no ConfigMap values, no
// managed fields. namespaces is what to watch; none means all.
func CacheOptions(namespaces []string) cache.Options {
	objects := map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}:                      {Transform: stripConfigMap},
		&autoscalingv2.HorizontalPodAutoscaler{}: {Transform: contention.StripAutoscaler},
	}
	target.CachedKinds(func(_ targetkind.Kind, kind target.Cached) {
		objects[kind.Object()] = cache.ByObject{Transform: kind.Strip}
	})
	return cache.Options{
		DefaultTransform:  cache.TransformStripManagedFields(),
		ByObject:          objects,
		DefaultNamespaces: kindwatch.Namespaces(namespaces),
	}
}

// stripConfigMap keeps the keys: dates are keys, and values are not used (R4).
func stripConfigMap(obj any) (any, error) {
	c, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return obj, nil
	}
	stripped := &corev1.ConfigMap{ObjectMeta: targetkind.Identity(&c.ObjectMeta), Data: make(map[string]string, len(c.Data))}
	for key := range c.Data {
		stripped.Data[key] = ""
	}
	return stripped, nil
}
