// Package statuswriter writes a TimeWindowScaler's status: all of it in one PATCH of the status
// subresource under optimistic locking, and nothing if nothing changed (B9).
// It decides nothing.
package statuswriter

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// UpdateStatus makes status the status of tws, which must hold the resourceVersion it was read
// with. On success tws is what the API server stored. written is false if the status was so
// already and no request was sent. A conflict (409) comes back as it is: read again and retry.
func UpdateStatus(ctx context.Context, writer client.SubResourceWriter, tws *v1beta1.TimeWindowScaler, status v1beta1.TimeWindowScalerStatus) (written bool, err error) {
	if equality.Semantic.DeepEqual(tws.Status, status) {
		return false, nil
	}
	changed := tws.DeepCopy()
	changed.Status = status
	patch := client.MergeFromWithOptions(tws, client.MergeFromWithOptimisticLock{})
	if err := writer.Patch(ctx, changed, patch); err != nil {
		return false, err
	}
	changed.DeepCopyInto(tws)
	return true, nil
}
