package certs

import (
	"context"
	"crypto/tls"
	"fmt"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsclient "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Callers name the objects that make the API server call Kyklos: webhook configurations, and CustomResourceDefinitions
// for their conversion webhook. They may be created later.
type Callers struct {
	ValidatingWebhookConfigurations []string
	MutatingWebhookConfigurations   []string
	CustomResourceDefinitions       []string
}

func (c Callers) count() int {
	return len(c.ValidatingWebhookConfigurations) + len(c.MutatingWebhookConfigurations) + len(c.CustomResourceDefinitions)
}

// targets are the watched callers.
type targets []*object

// newTargets prepares one watch for each caller; see object.watch for resync.
func newTargets(config *rest.Config, c Callers, resync time.Duration) (all targets, err error) {
	if c.count() == 0 {
		return nil, nil
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	extensions, err := apiextensionsclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	admission := core.AdmissionregistrationV1().RESTClient()
	add := func(api rest.Interface, kind, resource string, example runtime.Object, names []string) {
		for _, name := range names {
			target := &object{kind: kind, resource: resource, name: name, api: api}
			target.watch(example, resync)
			all = append(all, target)
		}
	}
	add(admission, "ValidatingWebhookConfiguration", "validatingwebhookconfigurations",
		&admissionv1.ValidatingWebhookConfiguration{}, c.ValidatingWebhookConfigurations)
	add(admission, "MutatingWebhookConfiguration", "mutatingwebhookconfigurations",
		&admissionv1.MutatingWebhookConfiguration{}, c.MutatingWebhookConfigurations)
	add(extensions.ApiextensionsV1().RESTClient(), "CustomResourceDefinition", "customresourcedefinitions",
		&apiextensionsv1.CustomResourceDefinition{}, c.CustomResourceDefinitions)
	return all, nil
}

// run watches until ctx ends and calls changed for each event or resync.
func (all targets) run(ctx context.Context, changed func(*object)) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, target := range all {
		record := func() { recordConversion(target); recordAdmission(target) }
		if err := target.onChange(func() { record(); changed(target) }); err != nil {
			return err
		}
		wg.Go(func() { target.informer.RunWithContext(ctx) })
		wg.Go(func() {
			if cache.WaitForCacheSync(ctx.Done(), target.informer.HasSynced) {
				record() // what does not exist has no event
			}
		})
	}
	<-ctx.Done()
	return nil
}

// published reports whether every bundle of every existing caller trusts pair.
func (all targets) published(pair *tls.Certificate, now time.Time) bool {
	return all.every(func(e endpoint) bool { return e.trusts(pair, now) == nil })
}

// every reports whether all callers have been read and all their endpoints pass.
func (all targets) every(pass func(endpoint) bool) bool {
	for _, target := range all {
		if !target.informer.HasSynced() {
			return false
		}
		for _, e := range endpointsOf(target.get()) {
			if !pass(e) {
				return false
			}
		}
	}
	return true
}

// missing lists why calls from the API server would fail: callers not read or not created yet, bundles without the CA,
// names that the leaf is not valid for. A caller that is deleted later is not listed: deleting a webhook configuration
// switches admission off, and must not stop conversion as well; see targets.admitted.
func (all targets) missing(pair *tls.Certificate, now time.Time) (errs []error) {
	for _, target := range all {
		obj := target.get()
		switch {
		case !target.informer.HasSynced():
			errs = append(errs, fmt.Errorf("%s %q has not been read yet (may Kyklos list and watch it?)", target.kind, target.name))
		case obj == nil && !target.seen.Load():
			errs = append(errs, fmt.Errorf("%s %q does not exist yet", target.kind, target.name))
		}
		for _, e := range endpointsOf(obj) {
			if err := e.accepts(pair, now); err != nil {
				errs = append(errs, fmt.Errorf("%s %q, webhook %q: %w", target.kind, target.name, e.name, err))
			}
		}
	}
	return errs
}
