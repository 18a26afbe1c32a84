package conversion

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// request is a ConversionReview of an API server. uid and the type are JSON, which the answer repeats.
type request struct {
	apiVersion, kind, uid json.RawMessage
	desired               string
	objects               []json.RawMessage
}

// parseRequest validates the body as a whole; what is read later is valid JSON.
func parseRequest(body []byte) (req request, err error) {
	if !json.Valid(body) {
		return req, errors.Join(errors.New("the body is no JSON"), json.Unmarshal(body, new(any)))
	}
	review, isObject := members(body)
	inner, there := members(review["request"])
	if !isObject || !there {
		return req, errors.New("the body is no ConversionReview with a request")
	}
	desired, _ := decode(inner["desiredAPIVersion"]).(string)
	return request{review["apiVersion"], review["kind"], inner["uid"], desired, elements(inner["objects"])}, nil
}

// succeeded is the answer with all objects.
func (r request) succeeded(converted []document) []byte {
	objects := make([]any, len(converted))
	for i := range converted {
		objects[i] = converted[i]
	}
	return r.answer(objects, metav1.Status{Status: metav1.StatusSuccess})
}

// failed is the answer without any.
func (r request) failed(err error) []byte {
	return r.answer([]any{}, metav1.Status{Status: metav1.StatusFailure, Message: err.Error()})
}

func (r request) answer(objects []any, result metav1.Status) []byte {
	review := map[string]any{"response": map[string]any{"uid": orNull(r.uid), "convertedObjects": objects, "result": result}}
	review["apiVersion"], review["kind"] = orNull(r.apiVersion), orNull(r.kind)
	return encode(review)
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// isDownTo reports whether d is converted from v1beta1 to v1alpha1, or the other way. Anything else is an error.
func (d document) isDownTo(desired string) (down bool, err error) {
	from, _ := decode(d["apiVersion"]).(string)
	kind, _ := decode(d["kind"]).(string)
	hub, spoke := v1beta1.GroupVersion.String(), v1alpha1.GroupVersion.String()
	switch {
	case kind == v1beta1.Kind && from == hub && desired == spoke:
		return true, nil
	case kind == v1beta1.Kind && from == spoke && desired == hub:
		return false, nil
	}
	return false, fmt.Errorf("a %s of %s is not converted to %s", kind, from, desired)
}
