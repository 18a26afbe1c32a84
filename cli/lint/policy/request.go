package policy

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	"kyklos.io/kyklos/cli/manifest"
)

// Request is the creation or update of an object.
type Request struct {
	// Object is the manifest, for its name and positions.
	Object *manifest.Object
	// Namespace is for objects without one.
	Namespace string
	// New is the object with defaults, and is not changed. Old is the updated object, nil on create.
	New, Old map[string]any
}

// userName is the user of all requests. Expressions that read it would fail without one.
const userName = "kyklos-lint"

// request adapts a Request to the API server's admission.
type request struct {
	admission.Attributes
	namespace *corev1.Namespace // nil for objects without one
	known     bool              // the Namespace is in the manifests
	builtIn   bool              // the kind has defaults that are not known here
}

// namespaceUnknown reports whether only the name of the request's namespace is known.
func (r *request) namespaceUnknown() bool { return r.namespace != nil && !r.known }

func (p *Policies) request(r Request) *request {
	gvk := r.Object.GroupVersionKind()
	gvr, namespaced, _ := p.kinds.resource(gvk)
	out := &request{}
	namespace := ""
	switch {
	case namespaced:
		namespace = r.Object.Key(r.Namespace).Namespace
		out.namespace, _ = p.namespaces.Get(namespace)
		out.known = p.namespaces[namespace] != nil
	case gvk.Kind == "Namespace" && gvk.Group == "":
		namespace = r.Object.Name() // as in the API server
	}
	object := p.complete(r.New, namespaced, namespace, 1)
	_, custom := object.(*unstructured.Unstructured)
	out.builtIn = !custom
	operation, options, old := admission.Create, runtime.Object(&metav1.CreateOptions{}), runtime.Object(nil)
	if r.Old != nil {
		operation, options = admission.Update, &metav1.UpdateOptions{}
		old = p.complete(r.Old, namespaced, namespace, 0)
	}
	out.Attributes = admission.NewAttributesRecord(object, old, gvk, namespace, r.Object.Name(), gvr, "", operation, options, false,
		&user.DefaultInfo{Name: userName, Groups: []string{user.AllAuthenticated}})
	return out
}

// complete returns the object with the fields that the API server sets; generation 0 is not set.
func (p *Policies) complete(content map[string]any, namespaced bool, namespace string, generation int64) runtime.Object {
	content = runtime.DeepCopyJSON(content)
	object := typed(content)
	if custom, ok := object.(*unstructured.Unstructured); ok && generation > 0 && custom.GetGeneration() == 0 {
		custom.SetGeneration(generation)
	}
	if named, ok := object.(metav1.Object); ok && namespaced && named.GetNamespace() == "" {
		named.SetNamespace(namespace)
	}
	if own, ok := object.(*corev1.Namespace); ok {
		return complete(own)
	}
	return object
}
