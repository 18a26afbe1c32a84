package certs

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// endpoint is one place that calls Kyklos: a webhook of a configuration, or a CustomResourceDefinition's conversion.
type endpoint struct {
	// name is the webhook's name, empty for a conversion.
	name string
	// host is what the API server expects the serving certificate to name.
	host   string
	bundle []byte
}

// endpointsOf returns the endpoints of a webhook configuration or of a
// CustomResourceDefinition; the latter has none without a conversion webhook.
func endpointsOf(obj any) (endpoints []endpoint) {
	switch o := obj.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		for _, w := range o.Webhooks {
			endpoints = append(endpoints, admissionEndpoint(w.Name, w.ClientConfig))
		}
	case *admissionv1.MutatingWebhookConfiguration:
		for _, w := range o.Webhooks {
			endpoints = append(endpoints, admissionEndpoint(w.Name, w.ClientConfig))
		}
	case *apiextensionsv1.CustomResourceDefinition:
		if c := o.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil {
			endpoints = append(endpoints, conversionEndpoint(*c.Webhook.ClientConfig))
		}
	}
	return endpoints
}

func admissionEndpoint(name string, c admissionv1.WebhookClientConfig) endpoint {
	e := endpoint{name: name, host: urlHost(c.URL), bundle: c.CABundle}
	if c.Service != nil {
		e.host = serviceHost(c.Service.Name, c.Service.Namespace)
	}
	return e
}

func conversionEndpoint(c apiextensionsv1.WebhookClientConfig) endpoint {
	e := endpoint{host: urlHost(c.URL), bundle: c.CABundle}
	if c.Service != nil {
		e.host = serviceHost(c.Service.Name, c.Service.Namespace)
	}
	return e
}

// serviceHost is the server name that the API server uses for a Service.
func serviceHost(name, namespace string) string { return name + "." + namespace + ".svc" }

func urlHost(raw *string) string {
	if raw == nil {
		return ""
	}
	u, err := url.Parse(*raw)
	if err != nil {
		return "" // the API server refuses such a URL
	}
	return u.Hostname()
}

// trusts returns nil when the API server would accept the pair at now from this
// endpoint's caBundle and the certificates that are served with the leaf.
func (e endpoint) trusts(pair *tls.Certificate, now time.Time) error {
	if len(e.bundle) == 0 {
		return errors.New("caBundle is empty, the CA is not published yet")
	}
	if _, err := chains(pair, parseBundle(e.bundle), now); err != nil {
		return fmt.Errorf("caBundle does not trust the served certificate: %w", err)
	}
	return nil
}

// accepts returns nil when a call from this endpoint would succeed: it trusts the pair, and the leaf is valid for the
// name that it calls.
func (e endpoint) accepts(pair *tls.Certificate, now time.Time) error {
	return errors.Join(e.trusts(pair, now), pair.Leaf.VerifyHostname(e.host))
}

// bundlePatch is a strategic merge patch that sets the caBundle of the endpoints and nothing else, or fails with a
// conflict.
//
// Server-side apply would own the webhooks' entries as well: when a GitOps tool applies the configuration with one
// webhook less, an entry with only a caBundle would remain, and every later apply would be refused. It would also need
// force to take over a bundle set by hand, and the resourceVersion, or two writers could undo each other's append.
func bundlePatch(obj metav1.Object, set []endpoint) ([]byte, error) {
	patch := map[string]any{"metadata": map[string]any{"resourceVersion": obj.GetResourceVersion()}}
	var webhooks []any
	for _, e := range set {
		config := map[string]any{"clientConfig": map[string]any{"caBundle": e.bundle}}
		if _, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
			patch["spec"] = map[string]any{"conversion": map[string]any{"webhook": config}}
			continue
		}
		config["name"] = e.name
		webhooks = append(webhooks, config)
	}
	if webhooks != nil {
		patch["webhooks"] = webhooks
	}
	return json.Marshal(patch)
}
