package certs

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestEndpointsOf(t *testing.T) {
	service := admissionv1.WebhookClientConfig{
		Service: &admissionv1.ServiceReference{Namespace: "kyklos-system", Name: "kyklos-webhook"}, CABundle: []byte("a"),
	}
	byURL := admissionv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:9443/validate"), CABundle: []byte("b")}
	conversion := func(c *apiextensionsv1.CustomResourceConversion) *apiextensionsv1.CustomResourceDefinition {
		return &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{Conversion: c}}
	}

	for name, c := range map[string]struct {
		obj  any
		want []endpoint
	}{
		"missing": {nil, nil},
		"validating": {&admissionv1.ValidatingWebhookConfiguration{Webhooks: []admissionv1.ValidatingWebhook{
			{Name: "one", ClientConfig: service}, {Name: "two", ClientConfig: byURL}}},
			[]endpoint{{"one", "kyklos-webhook.kyklos-system.svc", []byte("a")}, {"two", "127.0.0.1", []byte("b")}}},
		"mutating": {&admissionv1.MutatingWebhookConfiguration{Webhooks: []admissionv1.MutatingWebhook{
			{Name: "one", ClientConfig: byURL}}},
			[]endpoint{{"one", "127.0.0.1", []byte("b")}}},
		"definition without conversion": {conversion(nil), nil},
		"definition with strategy None": {conversion(&apiextensionsv1.CustomResourceConversion{Strategy: "None"}), nil},
		"definition with conversion by Service": {conversion(&apiextensionsv1.CustomResourceConversion{
			Webhook: &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{
				Service: &apiextensionsv1.ServiceReference{Namespace: "ns", Name: "svc"}, CABundle: []byte("c")}}}),
			[]endpoint{{"", "svc.ns.svc", []byte("c")}}},
		"definition with conversion by URL": {conversion(&apiextensionsv1.CustomResourceConversion{
			Webhook: &apiextensionsv1.WebhookConversion{ClientConfig: &apiextensionsv1.WebhookClientConfig{
				URL: ptr.To("https://[::1]:9443/convert")}}}),
			[]endpoint{{"", "::1", nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, endpointsOf(c.obj), cmp.AllowUnexported(endpoint{})); diff != "" {
				t.Errorf("endpoints (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEndpointTrusts(t *testing.T) {
	ca, other := newCA(t, noon.Add(2*time.Hour)), newCA(t, noon.Add(2*time.Hour))
	leaf := ca.leaf(t, "127.0.0.1")
	for name, c := range map[string]struct {
		bundle []byte
		now    time.Time
		want   string // empty: trusted
	}{
		"its CA among others":     {bundleOf(other.Certificate, ca.Certificate), noon, ""},
		"empty":                   {nil, noon, "caBundle is empty"},
		"only others":             {bundleOf(other.Certificate), noon, "unknown authority"},
		"not yet by a slow clock": {bundleOf(ca.Certificate), noon.Add(-time.Second), "not yet valid"},
		"over by a fast clock":    {bundleOf(ca.Certificate), noon.Add(time.Hour + time.Second), "expired"},
	} {
		t.Run(name, func(t *testing.T) {
			err := endpoint{bundle: c.bundle}.trusts(&tls.Certificate{Leaf: leaf, Certificate: [][]byte{leaf.Raw}}, c.now)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func TestBundlePatch(t *testing.T) {
	meta := metav1.ObjectMeta{Name: "kyklos", ResourceVersion: "7"}
	for name, c := range map[string]struct {
		obj  metav1.Object
		set  []endpoint
		want string
	}{
		"webhooks by name": {&admissionv1.MutatingWebhookConfiguration{ObjectMeta: meta},
			[]endpoint{{name: "one", bundle: []byte("a")}, {name: "two", bundle: []byte("b")}},
			`{"metadata":{"resourceVersion":"7"},"webhooks":[` +
				`{"clientConfig":{"caBundle":"YQ=="},"name":"one"},{"clientConfig":{"caBundle":"Yg=="},"name":"two"}]}`},
		"conversion": {&apiextensionsv1.CustomResourceDefinition{ObjectMeta: meta},
			[]endpoint{{bundle: []byte("a")}},
			`{"metadata":{"resourceVersion":"7"},"spec":{"conversion":{"webhook":{"clientConfig":{"caBundle":"YQ=="}}}}}`},
	} {
		t.Run(name, func(t *testing.T) {
			patch, err := bundlePatch(c.obj, c.set)
			if diff := cmp.Diff(c.want, string(patch)); diff != "" || err != nil {
				t.Errorf("error %v; patch (-want +got):\n%s", err, diff)
			}
		})
	}
}
