package source

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// ClusterHolidays are what whoever asks may know of the holidays of a cluster's scaler. The error says that the cluster does not answer.
func ClusterHolidays(ctx context.Context, cluster client.Reader, tws *v1beta1.TimeWindowScaler) (Holidays, error) {
	source := configMaps{cluster: cluster}
	return source.of(ctx, tws)
}
