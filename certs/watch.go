package certs

import (
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// object is the watched local copy of one named object. A watch is bound to the
// name: RBAC by resourceNames allows exactly that, and nothing else comes into
// memory. The manager's cache would hold every Secret it may see.
type object struct {
	kind, resource, namespace, name string

	api      rest.Interface
	informer cache.SharedIndexInformer
	seen     atomic.Bool // it existed once; see targets.missing
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

// newSecret prepares the watch of the Secret that keeps the CA.
func newSecret(o Options) (*object, error) {
	core, err := kubernetes.NewForConfig(o.RESTConfig)
	if err != nil {
		return nil, err
	}
	secret := &object{kind: "Secret", resource: "secrets", namespace: o.Namespace, name: o.SecretName, api: core.CoreV1().RESTClient()}
	secret.watch(&corev1.Secret{}, o.pace())
	return secret, nil
}

// watch sets up the informer. Its resync repeats the local copy every period,
// without a request, so that expiry is noticed though nothing was written.
func (o *object) watch(example runtime.Object, period time.Duration) {
	byName := fields.OneTermEqualSelector("metadata.name", o.name)
	o.informer = cache.NewSharedIndexInformer(
		cache.NewListWatchFromClient(o.api, o.resource, o.namespace, byName), example, period, cache.Indexers{})
}

// onChange has do called after each look at the object.
func (o *object) onChange(do func()) error {
	_, err := o.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { o.seen.Store(true); do() },
		UpdateFunc: func(any, any) { do() },
		DeleteFunc: func(any) { do() },
	})
	return err
}
