package policy

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// criteria adapts match criteria to the API server's matching.
type criteria struct{ *admissionv1.MatchResources }

func (c criteria) GetParsedNamespaceSelector() (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(c.NamespaceSelector)
}

func (c criteria) GetParsedObjectSelector() (labels.Selector, error) {
	return metav1.LabelSelectorAsSelector(c.ObjectSelector)
}

func (c criteria) GetMatchResources() admissionv1.MatchResources { return *c.MatchResources }

// mapping is the one of admission's object interfaces that matching uses.
type mapping struct {
	admission.ObjectInterfaces
	kinds kinds
}

func (m mapping) GetEquivalentResourceMapper() runtime.EquivalentResourceMapper { return m.kinds }

// match is the result of matching a request against a policy or a binding.
type match struct {
	// found: the request matches, with this resource and kind.
	found    bool
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
	// unsure: it depends on the labels of a Namespace that are not known.
	unsure bool
}

func (p *Policies) match(r *request, resources *admissionv1.MatchResources) (m match, err error) {
	if resources == nil { // a binding for everything that its policy matches
		return match{found: true}, nil
	}
	chosen := *resources
	if r.namespaceUnknown() && needsLabels(chosen.NamespaceSelector) {
		m.unsure, chosen.NamespaceSelector = true, &metav1.LabelSelector{}
	}
	m.found, m.resource, m.kind, err = p.matcher.Matches(r, mapping{kinds: p.kinds}, criteria{&chosen})
	return m, err
}

// needsLabels reports whether a namespace selector uses labels other than the name, which every Namespace has.
func needsLabels(selector *metav1.LabelSelector) bool {
	parsed, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return false
	}
	requirements, _ := parsed.Requirements()
	for _, requirement := range requirements {
		if requirement.Key() != corev1.LabelMetadataName {
			return true
		}
	}
	return false
}
