package storagemigration

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// observe reads the request to the cluster's migrator, unless this migration is ours already.
func (r *Reconciler) observe(ctx context.Context, crd *definition, p *progress) (observation, error) {
	obs := observation{crd: crd}
	if p.own != "" && needed(crd) {
		return obs, nil
	}
	svm, err := r.Migrations.Get(ctx, requestName(crd.Name), metav1.GetOptions{})
	switch {
	case err == nil:
		obs.svm = svm
	case isUnserved(err):
		obs.unserved = "the cluster does not serve storagemigration.k8s.io/v1"
	case apierrors.IsForbidden(err):
		obs.unserved = "Kyklos may not use storagemigration.k8s.io/v1: " + err.Error()
	case !apierrors.IsNotFound(err):
		return obs, fmt.Errorf("get the StorageVersionMigration %s: %w", requestName(crd.Name), err)
	}
	return obs, nil
}

// isUnserved reports that there is nothing at the path at all, where the answer for a single object
// that is missing would name it.
func isUnserved(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.IsUnexpectedServerError(err)
}
