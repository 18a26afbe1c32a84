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

// object is the watched copy of one named object. RBAC with resourceNames allows exactly such a watch, and nothing else
// is cached; the manager's cache would hold every Secret.
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
		return nil // an in-memory store does not fail
	}
	return obj
}

// newSecret prepares the watch of the Secret with the CA.
func newSecret(o Options) (*object, error) {
	core, err := kubernetes.NewForConfig(o.RESTConfig)
	if err != nil {
		return nil, err
	}
	secret := &object{kind: "Secret", resource: "secrets", namespace: o.Namespace, name: o.SecretName, api: core.CoreV1().RESTClient()}
	secret.watch(&corev1.Secret{}, o.pace())
	return secret, nil
}

// watch sets up the informer. Its resync repeats the local copy every period, without a request, so that expiry is
// noticed without a write.
func (o *object) watch(example runtime.Object, period time.Duration) {
	byName := fields.OneTermEqualSelector("metadata.name", o.name)
	o.informer = cache.NewSharedIndexInformer(
		cache.NewListWatchFromClient(o.api, o.resource, o.namespace, byName), example, period, cache.Indexers{})
}

// onChange calls do for each event and resync.
func (o *object) onChange(do func()) error {
	_, err := o.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { o.seen.Store(true); do() },
		UpdateFunc: func(any, any) { do() },
		DeleteFunc: func(any) { do() },
	})
	return err
}
