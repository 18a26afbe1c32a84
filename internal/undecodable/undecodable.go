// Package undecodable keeps one object that Go cannot decode from hiding all others. The API server accepts a few values
// that Go's types do not, such as a number above int32 (before Kubernetes 1.36), or a time with a lower-case t. A client
// would then fail to decode the whole list, and nothing in the cluster would be reconciled.
//
// Transport replaces such an object in lists and watches by one with as much of it as can be decoded, and Problem says what
// is missing. A TimeWindowScaler is also replaced when it is read alone. Other requests for a single object fail, for that
// object alone.
package undecodable

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// The annotations of a replaced object say why its parts are missing. The API server refuses keys with a space, so no
// other object has them.
const (
	specProblem   = "kyklos.io/undecodable spec"
	statusProblem = "kyklos.io/undecodable status"
)

// Problem is why parts of an object are missing.
type Problem struct {
	// Spec and Status are nil if that part is as it is stored.
	Spec, Status error
}

// Marks returns the annotations of a replaced object, and nil for every other one.
func Marks(object metav1.Object) map[string]string {
	var marks map[string]string
	for _, key := range []string{specProblem, statusProblem} {
		if text, bad := object.GetAnnotations()[key]; bad {
			if marks == nil {
				marks = map[string]string{}
			}
			marks[key] = text
		}
	}
	return marks
}

// ProblemOf returns nil for an object that could be decoded.
func ProblemOf(object metav1.Object) *Problem {
	annotations := object.GetAnnotations()
	problem := &Problem{}
	if text, bad := annotations[specProblem]; bad {
		problem.Spec = errors.New(text)
	}
	if text, bad := annotations[statusProblem]; bad {
		problem.Status = errors.New(text)
	}
	if problem.Spec == nil && problem.Status == nil {
		return nil
	}
	return problem
}

func (p *Problem) Error() string {
	if p.Spec != nil {
		return fmt.Sprintf("spec cannot be decoded: %v", p.Spec)
	}
	return fmt.Sprintf("status cannot be decoded: %v", p.Status)
}

// kind is a kind whose objects may be replaced.
type kind struct {
	// path is how the path of its lists begins, and resource how it ends.
	path, resource string
	// decode decodes an object into its Go type.
	decode func(raw []byte) error
	// whole: an object without its spec or its status would be misunderstood, so it loses both, and cannot be read alone.
	whole bool
}

var kinds = []kind{
	{path: "/apis/" + v1beta1.GroupVersion.String() + "/", resource: "timewindowscalers", decode: into[v1beta1.TimeWindowScaler]},
	// Which archives are needed follows from both.
	{path: "/apis/" + v1alpha1.GroupVersion.String() + "/", resource: "workspaces", decode: into[v1alpha1.Workspace], whole: true},
}

func into[T any](raw []byte) error { return utiljson.Unmarshal(raw, new(T)) }

// sound returns the object, or what replaces it.
func (k kind) sound(raw []byte) ([]byte, error) {
	err := k.decode(raw)
	if err == nil {
		return raw, nil
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) != nil {
		return nil, err
	}
	without := func(parts ...string) map[string]json.RawMessage {
		rest := maps.Clone(object)
		for _, part := range parts {
			delete(rest, part)
		}
		return rest
	}
	for _, attempt := range []struct {
		dropped     []string
		annotations map[string]string
	}{
		{[]string{"status"}, map[string]string{statusProblem: err.Error()}},
		{[]string{"spec"}, map[string]string{specProblem: err.Error()}},
		{[]string{"spec", "status"}, map[string]string{specProblem: err.Error(), statusProblem: err.Error()}},
	} {
		if k.whole && len(attempt.dropped) < 2 {
			continue
		}
		replaced, encodeErr := annotate(without(attempt.dropped...), attempt.annotations)
		if encodeErr == nil && k.decode(replaced) == nil {
			return replaced, nil
		}
	}
	return nil, err
}

// annotate replaces the annotations of an object.
func annotate(object map[string]json.RawMessage, annotations map[string]string) ([]byte, error) {
	var metadata map[string]any
	decoder := json.NewDecoder(bytes.NewReader(object["metadata"]))
	decoder.UseNumber()
	if err := decoder.Decode(&metadata); err != nil {
		return nil, err
	}
	metadata["annotations"] = annotations
	delete(metadata, "managedFields")
	raw, err := json.Marshal(metadata)
	if err != nil {
		return nil, err
	}
	object["metadata"] = raw
	return json.Marshal(object)
}
