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

// mutate applies Kyklos's defaulting webhooks if the match conditions of their configuration hold: the object is not
// being deleted, and an update changes spec. old is nil for a new object.
func (s *Server) mutate(ctx context.Context, v *version, object, old *unstructured.Unstructured) error {
	if !s.webhooks || object.GetDeletionTimestamp() != nil || old != nil && sameSpec(object, old) {
		return nil
	}
	var before []byte
	if old != nil {
		var err error
		if before, err = json.Marshal(old.Object); err != nil {
			return err
		}
	}
	err := rewrite(object, func(raw []byte) ([]byte, error) {
		patches := admission.Patches(v.kind.GroupKind(), raw, before, request.NamespaceValue(ctx))
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
	defaulting.Default(object.Object, v.Structural)
	return err
}

// sameSpec is also true if one has no spec: the webhook is not called if a match condition fails.
func sameSpec(object, old *unstructured.Unstructured) bool {
	now, hasNow := object.Object["spec"]
	before, hadBefore := old.Object["spec"]
	return !hasNow || !hadBefore || apiequality.Semantic.DeepEqual(now, before)
}
