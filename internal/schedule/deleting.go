package schedule

import (
	"strings"

	"kyklos.io/kyklos/apis/v1beta1"
)

// Deleting continues "The TimeWindowScaler" for one that is being deleted; it is "" for any other.
func Deleting(tws *v1beta1.TimeWindowScaler) string {
	const left = "; its target is no longer scaled"
	switch {
	case tws.DeletionTimestamp == nil:
		return ""
	case len(tws.Finalizers) == 0:
		return "is being deleted" + left
	case len(tws.Finalizers) == 1:
		return "is being deleted and waits for the finalizer " + tws.Finalizers[0] + left
	default:
		return "is being deleted and waits for the finalizers " + strings.Join(tws.Finalizers, ", ") + left
	}
}
