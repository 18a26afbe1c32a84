package certs_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const namespace = "kyklos-certs"

// newClient returns an administrator's client that reads from the API server,
// without a rate limit.
func newClient(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	unlimited := rest.CopyConfig(config)
	unlimited.QPS = -1
	c, err := client.New(unlimited, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func create(t *testing.T, c client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatalf("creating %T %s: %v", o, o.GetName(), err)
		}
	}
}

// asKyklos returns access with exactly the permissions that doc.go's markers
// give, for objects of this name.
func asKyklos(t *testing.T, c client.Client, admin *rest.Config, name string) *rest.Config {
	t.Helper()
	subject := []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}
	meta := metav1.ObjectMeta{Name: name, Namespace: namespace}
	create(t, c,
		&rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"create"}},
			{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{name}, Verbs: []string{"list", "watch", "update"}},
		}},
		&rbacv1.RoleBinding{ObjectMeta: meta, Subjects: subject, RoleRef: rbacv1.RoleRef{Kind: "Role", Name: name}},
	)
	return mayCallers(t, c, admin, name, "list", "watch", "patch")
}

// asReader is asKyklos for mounted certificates: what is mounted is not asked for,
// and nothing is written.
func asReader(t *testing.T, c client.Client, admin *rest.Config, name string) *rest.Config {
	t.Helper()
	return mayCallers(t, c, admin, name, "list", "watch")
}

// mayCallers returns access to the objects of this name that call Kyklos.
func mayCallers(t *testing.T, c client.Client, admin *rest.Config, name string, verbs ...string) *rest.Config {
	t.Helper()
	create(t, c,
		&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{admissionv1.GroupName}, Verbs: verbs, ResourceNames: []string{name},
				Resources: []string{"validatingwebhookconfigurations", "mutatingwebhookconfigurations"}},
			{APIGroups: []string{apiextensionsv1.GroupName}, Verbs: verbs, ResourceNames: []string{"widgets.certs.example", "gadgets.certs.example"},
				Resources: []string{"customresourcedefinitions"}},
		}},
		&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: name}, RoleRef: rbacv1.RoleRef{Kind: "ClusterRole", Name: name},
			Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: name}}},
	)
	config := rest.CopyConfig(admin)
	config.Impersonate = rest.ImpersonationConfig{UserName: name, Groups: []string{"system:authenticated"}}
	config.UserAgent = name
	return config
}

// gated is a namespace whose ConfigMaps go through the webhooks.
func gated(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// validating returns a configuration under which a ConfigMap in the namespace of
// the same name is created only if every replica has answered.
func validating(name string, bundle []byte, replicas ...replica) *admissionv1.ValidatingWebhookConfiguration {
	config := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: name}}
	for i, r := range replicas {
		config.Webhooks = append(config.Webhooks, admissionv1.ValidatingWebhook{
			Name:         string(rune('a'+i)) + ".certs.example",
			ClientConfig: admissionv1.WebhookClientConfig{URL: ptr.To(r.url()), CABundle: bundle},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: name}},
			FailurePolicy:     ptr.To(admissionv1.Fail), SideEffects: ptr.To(admissionv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		})
	}
	return config
}

// mutating matches nothing; only its caBundle matters.
func mutating(name string, r replica) *admissionv1.MutatingWebhookConfiguration {
	return &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionv1.MutatingWebhook{{
			Name: "a.certs.example", ClientConfig: admissionv1.WebhookClientConfig{URL: ptr.To(r.url())},
			SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

// definition is one with a conversion webhook.
func definition(kind, plural string, r replica) *apiextensionsv1.CustomResourceDefinition {
	schema := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".certs.example"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "certs.example", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind, Plural: plural},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{
				{Name: "v1", Served: true, Storage: true, Schema: schema}, {Name: "v2", Served: true, Schema: schema},
			},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: ptr.To(r.url())},
					ConversionReviewVersions: []string{"v1"},
				},
			},
		},
	}
}

// foreignCA returns a CA that Kyklos did not issue, valid until notAfter.
func foreignCA(t *testing.T, notAfter time.Time) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{NotBefore: time.Unix(0, 0), NotAfter: notAfter, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// bundles reads the caBundles of the validating configuration as they are now.
func bundles(ctx context.Context, c client.Client, name string) (all [][]byte, err error) {
	config := &admissionv1.ValidatingWebhookConfiguration{}
	if err := c.Get(ctx, client.ObjectKey{Name: name}, config); err != nil {
		return nil, err
	}
	for _, w := range config.Webhooks {
		all = append(all, w.ClientConfig.CABundle)
	}
	return all, nil
}

// currentCA reads the CA that signs new leaves.
func currentCA(ctx context.Context, c client.Client, name string) (*x509.Certificate, error) {
	secret := &corev1.Secret{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, secret); err != nil {
		return nil, err
	}
	block, _ := pem.Decode(secret.Data[corev1.TLSCertKey])
	return x509.ParseCertificate(block.Bytes)
}

func encode(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}
