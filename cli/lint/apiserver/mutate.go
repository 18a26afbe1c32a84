package apiserver

import (
	"context"
	"encoding/json"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apiserver/pkg/endpoints/request"

	"kyklos.io/kyklos/webhooks/admission"
)

// mutate has Kyklos's mutating webhooks fill in what is left out, as the match conditions of their configuration say:
// not in what is being deleted, and in a change only where spec changes. old is nil for a new object.
func (s *Server) mutate(ctx context.Context, v *version, object, old *unstructured.Unstructured) error {
	if !s.webhooks || object.GetDeletionTimestamp() != nil || old != nil && sameSpec(object, old) {
		return nil
	}
	err := rewrite(object, func(raw []byte) ([]byte, error) {
		patches := admission.Patches(v.kind.GroupKind(), raw, request.NamespaceValue(ctx))
		if len(patches) == 0 {
			return raw, nil
		}
		text, err := json.Marshal(patches)
		if err != nil {
			return nil, err
		}
		patch, err := jsonpatch.DecodePatch(text)
		if err != nil {
			return nil, err
		}
		return patch.Apply(raw)
	})
	defaulting.Default(object.Object, v.structural)
	return err
}

// sameSpec is also true where one has no spec: a match condition that fails keeps the webhook from being called.
func sameSpec(object, old *unstructured.Unstructured) bool {
	now, hasNow := object.Object["spec"]
	before, hadBefore := old.Object["spec"]
	return !hasNow || !hadBefore || apiequality.Semantic.DeepEqual(now, before)
}
