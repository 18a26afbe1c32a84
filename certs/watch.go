package certs

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// object is the watched local copy of one named object.
type object struct {
	kind, resource, namespace, name string

	api      rest.Interface
	informer cache.SharedIndexInformer
}

// get returns the local copy, nil while the object does not exist.
func (o *object) get() any {
	key := cache.NewObjectName(o.namespace, o.name).String()
	obj, _, err := o.informer.GetStore().GetByKey(key)
	if err != nil {
		return nil // A store in memory has no other error than a missing key.
	}
	return obj
}

// watches are all the objects a replica looks at.
type watches struct {
	secret  *object
	targets []*object
}

// newWatches prepares one watch for each object, bound to its name: RBAC by
// resourceNames allows exactly that, and nothing else comes into memory. The
// manager's cache would hold every Secret it may see.
func newWatches(o Options) (watches, error) {
	core, err := kubernetes.NewForConfig(o.RESTConfig)
	if err != nil {
		return watches{}, err
	}
	extensions, err := apiextensionsclient.NewForConfig(o.RESTConfig)
	if err != nil {
		return watches{}, err
	}
	admission := core.AdmissionregistrationV1().RESTClient()

	w := watches{secret: &object{
		kind: "Secret", resource: "secrets", namespace: o.Namespace, name: o.SecretName, api: core.CoreV1().RESTClient(),
	}}
	w.secret.watch(&corev1.Secret{}, o.pace())
	add := func(api rest.Interface, kind, resource string, example runtime.Object, names []string) {
		for _, name := range names {
			target := &object{kind: kind, resource: resource, name: name, api: api}
			target.watch(example, o.pace())
			w.targets = append(w.targets, target)
		}
	}
	add(admission, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
		&admissionv1.ValidatingWebhookConfiguration{}, o.ValidatingWebhookConfigurations)
	add(admission, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
		&admissionv1.MutatingWebhookConfiguration{}, o.MutatingWebhookConfigurations)
	add(extensions.ApiextensionsV1().RESTClient(), "CustomResourceDefinition", "customresourcedefinitions",
		&apiextensionsv1.CustomResourceDefinition{}, o.CustomResourceDefinitions)
	return w, nil
}

// watch sets up the informer. Its resync repeats the local copy every period,
// without a request, so that expiry is noticed though nothing was written.
func (o *object) watch(example runtime.Object, period time.Duration) {
	byName := fields.OneTermEqualSelector("metadata.name", o.name)
	o.informer = cache.NewSharedIndexInformer(
		cache.NewListWatchFromClient(o.api, o.resource, o.namespace, byName), example, period, cache.Indexers{})
}
