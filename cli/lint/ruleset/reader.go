package ruleset

import (
	"context"
	"fmt"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"kyklos.io/kyklos/apis/v1beta1"
)

// reader is the inventory as a client when one object is applied: admission reads its facts from it.
type reader struct {
	*inventory
	member *member
}

var _ client.Reader = reader{}

// Get fills in what the rules read: the keys of a ConfigMap, and of any other object only that it exists.
func (r reader) Get(ctx context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	kind := groupKind(into)
	if m := r.set[identity{kind, key}]; m != nil {
		into.SetNamespace(key.Namespace)
		into.SetName(key.Name)
		if source, ok := into.(*corev1.ConfigMap); ok {
			source.Data = make(map[string]string)
			for _, part := range []string{"data", "binaryData"} {
				data, _ := m.object.Object[part].(map[string]any)
				for key := range data {
					source.Data[key] = "" // also of a value that the API server would refuse
				}
			}
		}
		return nil
	}
	if r.cluster == nil {
		return errUnknown // not NotFound: it may exist
	}
	err := r.cluster.Reader.Get(ctx, key, into)
	if client.IgnoreNotFound(err) != nil {
		r.fail(plural(kind.Kind), err)
	}
	return err
}

// List returns the scalers that exist when the object is applied, or the autoscalers: those of the set, and those of
// the cluster that the set does not replace.
func (r reader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	stored := r.storedIn(ctx, asked.Namespace)
	switch list := list.(type) {
	case *v1beta1.TimeWindowScalerList:
		for _, rival := range r.rivals(r.member) {
			list.Items = append(list.Items, *rival.scaler)
		}
		for i := range stored.scalers.Items {
			if scaler := &stored.scalers.Items[i]; !r.replaces(v1beta1.GroupKind, scaler) {
				list.Items = append(list.Items, *scaler)
			}
		}
		return stored.failed[v1beta1.Kind]
	case *autoscalingv2.HorizontalPodAutoscalerList:
		for _, hpa := range r.autoscalers[asked.Namespace] {
			list.Items = append(list.Items, *hpa)
		}
		for i := range stored.autoscalers.Items {
			if hpa := &stored.autoscalers.Items[i]; !r.replaces(autoscaler, hpa) {
				list.Items = append(list.Items, *hpa)
			}
		}
		return stored.failed[autoscaler.Kind]
	default:
		return fmt.Errorf("inventory cannot list %T", list)
	}
}

// groupKind is that of the Go type, or else the one in the object.
func groupKind(object client.Object) schema.GroupKind {
	if kind, err := apiutil.GVKForObject(object, scheme()); err == nil {
		return kind.GroupKind()
	}
	return object.GetObjectKind().GroupVersionKind().GroupKind()
}

// plural is the name of a kind in notes.
func plural(kind string) string { return kind + "s" }

// isAbsent reports whether err means that the object or its kind does not exist.
func isAbsent(err error) bool { return apierrors.IsNotFound(err) }
