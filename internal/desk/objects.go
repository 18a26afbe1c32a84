package desk

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// Objects are the TimeWindowScalers that FromCluster would read, as they are, also those whose specs cannot be followed.
func Objects(ctx context.Context, cluster client.Reader, namespace string, names []string) ([]v1beta1.TimeWindowScaler, error) {
	return read(ctx, cluster, namespace, names)
}

// HolidayKeys are the keys of a ConfigMap of a cluster, and whether there is one.
func HolidayKeys(ctx context.Context, cluster client.Reader, name types.NamespacedName) (keys []string, found bool, err error) {
	source := configMaps{cluster: cluster}
	return source.keys(ctx, name)
}
