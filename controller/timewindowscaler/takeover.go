package timewindowscaler

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kyklos.io/kyklos/apis/v1beta1"
)

// catchUpTimeout bounds the list of a new leader. Its passes wait for that.
const catchUpTimeout = 5 * time.Second

// catchUp is called by every pass. The first one of a process compares the cache with the API server, because the
// watches of a standby may be late, and a leader must not return to an older spec than the one before it acted on (B14).
// What is older in the cache, or missing there, is read from the API server in the next pass of its scaler.
func (r *Reconciler) catchUp(ctx context.Context) {
	r.caughtUp.Do(func() {
		bounded, cancel := context.WithTimeout(ctx, catchUpTimeout)
		defer cancel()
		stored, err := r.versions(bounded)
		if err != nil {
			log.FromContext(ctx).Error(err, "Cannot compare the cache with the API server; every TimeWindowScaler is read")
		}
		var cached v1beta1.TimeWindowScalerList
		if err := r.Client.List(ctx, &cached, client.UnsafeDisableDeepCopy); err != nil {
			log.FromContext(ctx).Error(err, "Cannot list the cached TimeWindowScalers")
		}
		for i := range cached.Items {
			key := client.ObjectKeyFromObject(&cached.Items[i])
			if isOlder(cached.Items[i].ResourceVersion, stored[key]) {
				r.memory.of(key).scaler.Doubt()
			}
			delete(stored, key)
		}
		for key := range stored { // the cache may get an older one of that name first
			r.memory.of(key).scaler.Doubt()
		}
	})
}

// isOlder reports whether a cached object may be older than the stored one, which has no version if it is gone or could
// not be read.
func isOlder(cached, stored string) bool {
	order, err := resourceversion.CompareResourceVersion(cached, stored)
	return cached != stored && (err != nil || order < 0)
}

// versions returns the resourceVersions of all stored scalers.
func (r *Reconciler) versions(ctx context.Context) (map[types.NamespacedName]string, error) {
	namespaces := r.namespaces
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	versions := map[types.NamespacedName]string{}
	for _, namespace := range namespaces {
		var list metav1.PartialObjectMetadataList
		list.SetGroupVersionKind(v1beta1.GroupVersion.WithKind(v1beta1.GroupKind.Kind + "List"))
		if err := r.APIReader.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return nil, err
		}
		for i := range list.Items {
			versions[client.ObjectKeyFromObject(&list.Items[i])] = list.Items[i].ResourceVersion
		}
	}
	return versions, nil
}
