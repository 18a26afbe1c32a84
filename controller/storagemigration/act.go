package storagemigration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/metrics"
)

// FieldManager owns what Kyklos writes to definitions. It owns nothing in the rewritten objects, since no field of
// them changes.
const FieldManager = "kyklos-storage-migration"

const (
	// pageSize is how many objects one request lists.
	pageSize = 500
	// batchSeconds is about how long one pass rewrites objects before the definition is read again.
	batchSeconds = 5
)

// act does the plan's step and keeps in p how far it came, also when it fails.
func (r *Reconciler) act(ctx context.Context, obs observation, next plan, p *progress) error {
	if next.fallback != "" {
		p.fallback = next.fallback
	}
	switch next.step {
	case createRequest:
		_, err := r.Migrations.Create(ctx, newRequest(obs.crd), metav1.CreateOptions{FieldManager: FieldManager})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create the StorageVersionMigration: %w", err)
		}
	case deleteRequest:
		uid := metav1.NewUIDPreconditions(string(obs.svm.UID))
		err := r.Migrations.Delete(ctx, obs.svm.Name, metav1.DeleteOptions{Preconditions: uid})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete the StorageVersionMigration: %w", err)
		}
	case listPage:
		return r.list(ctx, obs.crd, p)
	case rewriteBatch:
		return r.rewriteBatch(ctx, obs.crd, p)
	case retryRefused:
		p.left, p.refused, p.refusal = p.refused, nil, ""
	case finish:
		return r.finish(ctx, obs.crd)
	case startCleaning:
		p.startCleaning()
	case checkAgain:
		p.checkAgain()
	}
	return nil
}

// list reads one page. When the continue token has expired, the API server sends another one that continues at
// the same place among the current objects: objects created meanwhile are stored in the new version anyway.
// Without a new token the list starts over.
func (r *Reconciler) list(ctx context.Context, crd *definition, p *progress) error {
	resource, _, _ := endpoint(crd)
	page, err := r.Objects.Resource(resource).List(ctx, metav1.ListOptions{Limit: pageSize, Continue: p.token})
	if err != nil {
		if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
			p.token = continueToken(err)
		}
		if p.token == "" {
			p.left, p.stale = nil, 0
		}
		return fmt.Errorf("list %s: %w", resource.Resource, err)
	}
	for i := range page.Items {
		m := &page.Items[i].ObjectMeta
		it := item{namespace: m.Namespace, name: m.Name, resourceVersion: m.ResourceVersion}
		if p.cleaning {
			if it.managedFields = servedEntries(crd, resource.Version, m.ManagedFields); it.managedFields == nil {
				continue
			}
			p.stale++
		}
		p.left = append(p.left, it)
	}
	p.token = page.Continue
	p.listed = p.token == ""
	return nil
}

func continueToken(err error) string {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}

// rewriteBatch rewrites objects for about batchSeconds. It stops at the first request that should be repeated.
func (r *Reconciler) rewriteBatch(ctx context.Context, crd *definition, p *progress) error {
	for range min(r.QPS*batchSeconds, len(p.left)) {
		if err := r.Limiter.Wait(ctx); err != nil {
			return fmt.Errorf("wait for the rate limiter: %w", err)
		}
		result, err := r.rewrite(ctx, crd, p.left[0])
		if err != nil && result == "" {
			return err
		}
		if result == metrics.MigrationRefused {
			p.refused = append(p.refused, p.left[0])
			if p.refusal == "" {
				p.refusal = err.Error()
			}
		}
		p.left = p.left[1:]
		p.results[result]++
		metrics.RecordMigratedObject(crd.Name, result)
	}
	return nil
}

// rewrite makes the API server store one object again. Without a result the request should be repeated soon. The
// resourceVersion is that of the list: any other write since then has stored the object in the new version, too,
// and a recreated object has another resourceVersion. Managed fields can only be written without a subresource.
func (r *Reconciler) rewrite(ctx context.Context, crd *definition, it item) (result string, err error) {
	resource, subresources, _ := endpoint(crd)
	metadata := map[string]any{"resourceVersion": it.resourceVersion}
	if it.managedFields != nil {
		metadata["managedFields"], subresources = it.managedFields, nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return "", fmt.Errorf("encode the patch: %w", err)
	}
	written, err := r.Objects.Resource(resource).Namespace(it.namespace).Patch(ctx, it.name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: FieldManager}, subresources...)
	switch {
	case err == nil && written.ResourceVersion == it.resourceVersion && it.managedFields != nil:
		return metrics.MigrationRefused, fmt.Errorf("%s/%s: the API server did not accept the new managedFields", it.namespace, it.name)
	case err == nil && written.ResourceVersion == it.resourceVersion:
		return metrics.MigrationUnchanged, nil
	case err == nil:
		return metrics.MigrationRewritten, nil
	case apierrors.IsConflict(err):
		return metrics.MigrationSuperseded, nil
	case apierrors.IsNotFound(err) && !isUnserved(err):
		return metrics.MigrationGone, nil
	case isRefusal(err):
		return metrics.MigrationRefused, fmt.Errorf("%s/%s: %w", it.namespace, it.name, err)
	}
	return "", fmt.Errorf("rewrite %s/%s: %w", it.namespace, it.name, err)
}

// finish removes the old versions from storedVersions. The resourceVersion ensures that the storage version is
// still the one that the objects were rewritten in.
func (r *Reconciler) finish(ctx context.Context, crd *definition) error {
	version := storageVersion(crd).Name
	status := map[string]any{"storedVersions": []string{version}}
	if i := untrustedIndex(crd); i >= 0 {
		conditions := slices.Clone(crd.Status.Conditions)
		conditions[i].Status = apiextensionsv1.ConditionFalse
		conditions[i].Reason, conditions[i].Message = "MigrationSucceeded", "All objects are stored as "+version
		conditions[i].LastTransitionTime = metav1.NewTime(r.Clock.Now())
		conditions[i].ObservedGeneration = crd.Generation
		status["conditions"] = conditions
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": crd.ResourceVersion}, "status": status})
	if err != nil {
		return fmt.Errorf("encode the patch: %w", err)
	}
	_, err = r.Definitions.Patch(ctx, crd.Name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: FieldManager}, "status")
	if err != nil {
		return fmt.Errorf("set status.storedVersions to [%s]: %w", version, err)
	}
	return nil
}

// isRefusal reports that the API server has evaluated the request for this object and rejected it. Others may
// succeed, so the migration continues; an object that cannot be converted is refused, too.
func isRefusal(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsUnexpectedServerError(err) {
		return false
	}
	return !apierrors.IsTooManyRequests(err) && !apierrors.IsServiceUnavailable(err) && !apierrors.IsTimeout(err) &&
		!apierrors.IsServerTimeout(err) && !apierrors.IsUnauthorized(err)
}
