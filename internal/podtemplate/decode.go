package podtemplate

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"
	strictjson "sigs.k8s.io/json"

	"kyklos.io/kyklos/apis/v1alpha1"
)

const specField = "spec.template.spec"

// decode reads a Pod's spec. The CRD keeps every field of it, so what Kubernetes does not know is found here.
func decode(text []byte) (spec corev1.PodSpec, errs field.ErrorList) {
	if len(text) == 0 {
		return spec, nil
	}
	unknown, err := strictjson.UnmarshalStrict(text, &spec)
	if err != nil {
		return corev1.PodSpec{}, field.ErrorList{undecodable(text, err)}
	}
	for _, each := range unknown {
		at := specField
		if known, ok := errors.AsType[strictjson.FieldError](each); ok {
			at += "." + known.FieldPath()
		}
		errs = append(errs, invalid(at, "unknown field: a Pod has none of this name here; upper and lower case matter, and indentation decides what a field belongs to"))
	}
	return spec, errs
}

// lenient is decode without judgement.
func lenient(ws *v1alpha1.WorkspaceSpec) (spec corev1.PodSpec) {
	if ws.Template == nil || len(ws.Template.Spec.Raw) == 0 {
		return spec
	}
	if strictjson.UnmarshalCaseSensitivePreserveInts(ws.Template.Spec.Raw, &spec) != nil {
		return corev1.PodSpec{}
	}
	return spec
}

// undecodable says where a value has another type than the field, or an amount is none, as far as the decoder knows.
func undecodable(text []byte, err error) *field.Error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at := specField
		if wrong.Field != "" {
			at += "." + wrong.Field
		}
		return invalid(at, fmt.Sprintf("must be %s, not a JSON %s", kindOf(wrong), wrong.Value))
	}
	var tree any
	if json.Unmarshal(text, &tree) == nil {
		if at, value, found := badAmount(specField, tree); found {
			return &field.Error{Type: field.ErrorTypeInvalid, Field: at, BadValue: value, Detail: "must be an amount, such as 500m, 2 or 4Gi"}
		}
	}
	return invalid(specField, "must be the spec of a Pod: "+err.Error())
}

func kindOf(wrong *json.UnmarshalTypeError) string {
	switch kind := wrong.Type.Kind().String(); kind {
	case "slice":
		return "a list"
	case "struct", "map":
		return "an object with fields"
	case "string":
		return "text"
	case "bool":
		return "true or false"
	default:
		return "a whole number"
	}
}

// badAmount finds the first amount that is none, in the order of the names.
func badAmount(at string, tree any) (where string, value any, found bool) {
	switch node := tree.(type) {
	case []any:
		for i, item := range node {
			if where, value, found = badAmount(fmt.Sprintf("%s[%d]", at, i), item); found {
				return where, value, true
			}
		}
	case map[string]any:
		names := make([]string, 0, len(node))
		for name := range node {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			below := at + "." + name
			amounts, isList := node[name].(map[string]any)
			switch {
			case isList && (name == "requests" || name == "limits"):
				where, value, found = badAmong(below, amounts)
			case name == "sizeLimit" && notAnAmount(node[name]):
				return below, node[name], true
			default:
				where, value, found = badAmount(below, node[name])
			}
			if found {
				return where, value, true
			}
		}
	}
	return "", nil, false
}

func badAmong(at string, amounts map[string]any) (where string, value any, found bool) {
	for name, amount := range amounts {
		if notAnAmount(amount) && (!found || at+"["+name+"]" < where) {
			where, value, found = at+"["+name+"]", amount, true
		}
	}
	return where, value, found
}

func notAnAmount(value any) bool {
	text, isText := value.(string)
	if !isText {
		_, isNumber := value.(float64)
		return !isNumber
	}
	_, err := resource.ParseQuantity(text)
	return err != nil
}

func invalid(at, message string) *field.Error {
	return &field.Error{Type: field.ErrorTypeInvalid, Field: at, BadValue: field.OmitValueType{}, Detail: message}
}
