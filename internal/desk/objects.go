package desk

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// HolidayKeys are the keys of a ConfigMap of a cluster, and whether there is one.
func HolidayKeys(ctx context.Context, cluster client.Reader, name types.NamespacedName) (keys []string, found bool, err error) {
	source := configMaps{cluster: cluster}
	return source.keys(ctx, name)
}
