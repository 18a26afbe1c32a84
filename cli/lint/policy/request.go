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

// Request is an object that is created, or changed, as the API server has it when policies see it.
type Request struct {
	// Object is the manifest, for its name and its places.
	Object *manifest.Object
	// Namespace is that of objects that name none.
	Namespace string
	// New is what the object says, with defaults. It is not changed. Old is what it said before, nil if it is new.
	New, Old map[string]any
}

// nobody is the name of whoever makes the request. Without a name, expressions that look at it would fail.
const nobody = "kyklos-lint"

// request is a request as the API server's admission has it.
type request struct {
	admission.Attributes
	namespace *corev1.Namespace // nil for objects without one
	known     bool              // the Namespace is among the manifests
	builtIn   bool              // of a kind whose defaults are not known here
}

// strange says that the request is about a namespace of which nothing but its name is known.
func (r *request) strange() bool { return r.namespace != nil && !r.known }

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
		namespace = r.Object.Name() // the API server's way with Namespaces themselves
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
		&user.DefaultInfo{Name: nobody, Groups: []string{user.AllAuthenticated}})
	return out
}

// complete is the object with what the API server fills in; generation 0 leaves that out.
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
