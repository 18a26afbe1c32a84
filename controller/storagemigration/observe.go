package storagemigration

import (
	"context"
	"fmt"

	svmv1 "k8s.io/api/storagemigration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// observation is everything that a pass has read.
type observation struct {
	crd *definition
	// svm is Kyklos's StorageVersionMigration, nil if it does not exist.
	svm *svmv1.StorageVersionMigration
	// unavailable is why the cluster's migrator cannot be used.
	unavailable string
}

// observe reads the StorageVersionMigration, unless Kyklos already rewrites the objects itself.
func (r *Reconciler) observe(ctx context.Context, crd *definition, p *progress) (observation, error) {
	obs := observation{crd: crd}
	if p.fallback != "" && needed(crd) {
		return obs, nil
	}
	svm, err := r.Migrations.Get(ctx, requestName(crd.Name), metav1.GetOptions{})
	switch {
	case err == nil:
		obs.svm = svm
	case isUnserved(err):
		obs.unavailable = "the cluster does not serve storagemigration.k8s.io/v1"
	case apierrors.IsForbidden(err):
		obs.unavailable = "Kyklos has no permission for storagemigration.k8s.io/v1: " + err.Error()
	case !apierrors.IsNotFound(err):
		return obs, fmt.Errorf("get the StorageVersionMigration %s: %w", requestName(crd.Name), err)
	}
	return obs, nil
}

// isUnserved reports that the API server does not serve the path at all: a 404 for a missing object would
// name the object.
func isUnserved(err error) bool {
	return apierrors.IsNotFound(err) && apierrors.IsUnexpectedServerError(err)
}
