package policy

import (
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/cli/manifest"
)

// params returns the objects with which a bound policy is evaluated, once each; one nil if it has no params. Rules and
// messages are those of CollectParams (apiserver, pkg/admission/plugin/policy/generic/policy_dispatcher.go).
func (p *Policies) params(kind *admissionv1.ParamKind, ref *admissionv1.ParamRef, namespace string) ([]runtime.Object, error) {
	if kind == nil || ref == nil {
		return []runtime.Object{nil}, nil
	}
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Kind)
	candidates := p.objects[gvk]
	namespaced := p.namespaced(gvk, candidates, ref)
	switch {
	case !namespaced && ref.Namespace != "":
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case namespaced && ref.Namespace != "":
		namespace = ref.Namespace
	case namespaced && namespace == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	}
	selector := labels.Everything()
	if ref.Selector != nil {
		var err error
		if selector, err = metav1.LabelSelectorAsSelector(ref.Selector); err != nil {
			return nil, err
		}
	}
	var found []runtime.Object
	for _, object := range candidates {
		if namespaced && object.Key(manifest.Default).Namespace != namespace || ref.Name != "" && object.Name() != ref.Name ||
			!selector.Matches(labels.Set(object.Unstructured().GetLabels())) {
			continue
		}
		found = append(found, typed(object.Object))
	}
	if len(found) == 0 && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == admissionv1.DenyAction {
		return nil, fmt.Errorf("no params found for policy binding with `%s` parameterNotFoundAction", admissionv1.DenyAction)
	}
	return found, nil
}

// namespaced reports whether the params' kind is namespaced; without a definition, it is if a manifest or the reference
// has a namespace.
func (p *Policies) namespaced(gvk schema.GroupVersionKind, candidates []*manifest.Object, ref *admissionv1.ParamRef) bool {
	_, namespaced, sure := p.kinds.resource(gvk)
	if sure {
		return namespaced
	}
	for _, object := range candidates {
		if object.Namespace() != "" {
			return true
		}
	}
	return ref.Namespace != ""
}
