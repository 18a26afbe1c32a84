package policy

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	listersv1 "k8s.io/client-go/listers/core/v1"

	"kyklos.io/kyklos/cli/manifest"
)

// namespaces are the Namespaces in the manifests by name, as a lister for the API server's matching.
type namespaces map[string]*corev1.Namespace

var _ listersv1.NamespaceLister = namespaces{}

func namespacesOf(objects []*manifest.Object) namespaces {
	all := namespaces{}
	for _, object := range objects {
		if object.GroupVersionKind() != (schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}) {
			continue
		}
		if namespace, ok := typed(object.Object).(*corev1.Namespace); ok {
			all[object.Name()] = complete(namespace)
		}
	}
	return all
}

// complete returns the Namespace with the API server's defaults.
func complete(namespace *corev1.Namespace) *corev1.Namespace {
	namespace = namespace.DeepCopy()
	metav1.SetMetaDataLabel(&namespace.ObjectMeta, corev1.LabelMetadataName, namespace.Name)
	namespace.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
	namespace.Status.Phase = corev1.NamespaceActive
	return namespace
}

// Get returns the Namespace, or else one with only this name.
func (n namespaces) Get(name string) (*corev1.Namespace, error) {
	if namespace := n[name]; namespace != nil {
		return namespace, nil
	}
	return complete(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}), nil
}

// List returns the selected Namespaces in any order.
func (n namespaces) List(selector labels.Selector) (all []*corev1.Namespace, err error) {
	for _, namespace := range n {
		if selector.Matches(labels.Set(namespace.Labels)) {
			all = append(all, namespace)
		}
	}
	return all, nil
}
