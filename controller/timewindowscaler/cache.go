package timewindowscaler

import (
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/contention"
	"kyklos.io/kyklos/controller/timewindowscaler/kindwatch"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/targetkind"
)

// CacheOptions keeps of each watched object only what Kyklos uses: no pod templates and no
// managed fields. namespaces is what to watch; none means all. NewCache makes the cache of them.
func CacheOptions(namespaces []string) cache.Options {
	objects := map[client.Object]cache.ByObject{
		&v1beta1.TimeWindowScaler{}:              {Transform: stripScaler},
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
