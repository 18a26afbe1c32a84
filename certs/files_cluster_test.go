package certs_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/certs"
	"kyklos.io/kyklos/test/harness"
)

// mountedReplica is a replica with its own volume: kubelets update volumes in any order.
type mountedReplica struct {
	replica
	folder *certs.Folder
	log    *harness.Log
}

func startMounted(t *testing.T, kyklos *rest.Config, callers certs.Callers) mountedReplica {
	t.Helper()
	m := mountedReplica{folder: certs.NewFolder(t), log: &harness.Log{}}
	serving, err := certs.NewMounted(certs.MountedOptions{
		RESTConfig: kyklos, Dir: m.folder.Dir, DNSNames: []string{"127.0.0.1"}, Callers: callers, Pace: 3 * time.Second,
		Log: funcr.New(func(_, line string) { fmt.Fprintln(m.log, line) }, funcr.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	m.replica = startServing(t, kyklos, serving)
	return m
}

// mount gives each replica its own leaf from the CA.
func mount(t *testing.T, ca certs.Authority, replicas ...mountedReplica) {
	t.Helper()
	for _, m := range replicas {
		write(t, m, issue(t, ca))
	}
}

func issue(t *testing.T, ca certs.Authority) map[string][]byte {
	t.Helper()
	return ca.Issue(t, time.Now().Add(-time.Second), time.Now().Add(time.Hour), "127.0.0.1")
}

func write(t *testing.T, m mountedReplica, files map[string][]byte) {
	t.Helper()
	if err := m.folder.Write(files); err != nil {
		t.Fatal(err)
	}
}

func newAuthority(t *testing.T) certs.Authority {
	t.Helper()
	return certs.NewAuthority(t, time.Now().Add(-time.Hour), time.Now().Add(24*time.Hour))
}

// logged counts how often each replica has logged the message.
func logged(message string, replicas ...mountedReplica) (counts []int) {
	for _, m := range replicas {
		counts = append(counts, strings.Count(m.log.String(), message))
	}
	return counts
}

// logsAfter waits until every replica has logged the message again after change.
func logsAfter(t *testing.T, message string, change func(), replicas ...mountedReplica) {
	t.Helper()
	before := logged(message, replicas...)
	change()
	eventually(t, message, func() error {
		for i, count := range logged(message, replicas...) {
			if count == before[i] {
				return fmt.Errorf("replica %d has not logged it again", i)
			}
		}
		return nil
	})
}

// inject makes the CAs what every caller trusts, as a CA injector does.
func inject(t *testing.T, c client.Client, cas ...certs.Authority) {
	t.Helper()
	var bundle []byte
	for _, ca := range cas {
		bundle = append(bundle, encode(ca.Certificate)...)
	}
	validating, mutating := &admissionv1.ValidatingWebhookConfiguration{}, &admissionv1.MutatingWebhookConfiguration{}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	set := func(object client.Object, name string, set func()) {
		eventually(t, "an update without a conflict", func() error {
			if err := c.Get(t.Context(), client.ObjectKey{Name: name}, object); err != nil {
				return err
			}
			set()
			return c.Update(t.Context(), object)
		})
	}
	set(validating, "mounted", func() {
		for i := range validating.Webhooks {
			validating.Webhooks[i].ClientConfig.CABundle = bundle
		}
	})
	set(mutating, "mounted", func() { mutating.Webhooks[0].ClientConfig.CABundle = bundle })
	set(definition, "gadgets.certs.example", func() { definition.Spec.Conversion.Webhook.ClientConfig.CABundle = bundle })
}

// testFiles follows two replicas through rotations of leaf and CA by files, in
// either order, and through files that are torn or gone.
func testFiles(t *testing.T, c client.Client, kyklos *rest.Config, auditLog string) {
	callers := certs.Callers{
		ValidatingWebhookConfigurations: []string{"mounted"}, MutatingWebhookConfigurations: []string{"mounted"},
		CustomResourceDefinitions: []string{"gadgets.certs.example"},
	}
	a, b := startMounted(t, kyklos, callers), startMounted(t, kyklos, callers)
	notReady(t, a.replica, "is empty: the Secret mounted there needs the keys tls.crt and tls.key")
	first, second, third := newAuthority(t), newAuthority(t), newAuthority(t)
	mount(t, first, a, b)
	notReady(t, a.replica, `CustomResourceDefinition "gadgets.certs.example" does not exist yet`)
	create(t, c, validating("mounted", nil, a.replica, b.replica), mutating("mounted", a.replica), definition("Gadget", "gadgets", b.replica))
	notReady(t, b.replica, `CustomResourceDefinition "gadgets.certs.example", webhook "": caBundle is empty`)
	inject(t, c, first)
	ready(t, a.replica, b.replica)
	eventually(t, "first create", func() error { return createConfigMap(t.Context(), c, "mounted") })

	creates := inLoop(t, func(ctx context.Context) error { return createConfigMap(ctx, c, "mounted") })
	handshakes := inLoop(t, func(ctx context.Context) error { return handshake(ctx, c, "mounted", a.replica, b.replica) })
	turns(t, func() { mount(t, first, a, b) }, a, b) // a renewal under the same CA

	inject(t, c, first, second) // the CA first
	turns(t, func() { mount(t, second, a, b) }, a, b)
	servedBy(t, second.Certificate, a.replica, b.replica)

	const waits = "Waiting until the API servers trust the new certificate"
	logsAfter(t, waits, func() { mount(t, third, a, b) }, a, b) // the leaf first
	twoPaces(t, kyklos, third)
	for _, m := range []mountedReplica{a, b} {
		if leaf, err := m.leaf(nil); err != nil || leaf.CheckSignatureFrom(second.Certificate) != nil {
			t.Fatalf("a leaf is served that no caller trusts (%v)", err)
		}
	}
	inject(t, c, second, third)
	servedBy(t, third.Certificate, a.replica, b.replica)
	inject(t, c, third)

	testBadFiles(t, third, a, b)
	creates.none(t, "creates refused")
	handshakes.none(t, "handshakes failed")
	testDistrust(t, c, second, third, a)
	for _, request := range requests(t, auditLog, "mounted") {
		if !strings.HasPrefix(request, "list ") {
			t.Errorf("nothing but reading is needed: %s", request)
		}
	}
}

// twoPaces returns when a replica that checks no caller has changed its leaf twice.
func twoPaces(t *testing.T, kyklos *rest.Config, ca certs.Authority) {
	t.Helper()
	witness := startMounted(t, kyklos, certs.Callers{})
	mount(t, ca, witness)
	ready(t, witness.replica)
	turns(t, func() { mount(t, ca, witness) }, witness)
	turns(t, func() { mount(t, ca, witness) }, witness)
	witness.stop()
}

// turns waits until every replica serves another leaf than before change.
func turns(t *testing.T, change func(), replicas ...mountedReplica) {
	t.Helper()
	var before []*x509.Certificate
	for _, m := range replicas {
		leaf, err := m.leaf(nil)
		if err != nil {
			t.Fatal(err)
		}
		before = append(before, leaf)
	}
	change()
	for i, m := range replicas {
		eventually(t, "renewed leaf", func() error {
			leaf, err := m.leaf(nil)
			if err == nil && leaf.Equal(before[i]) {
				err = fmt.Errorf("still the one of %s", leaf.NotBefore)
			}
			return err
		})
	}
}

// testBadFiles: a key that comes before its certificate, and a Secret that is
// emptied, change nothing.
func testBadFiles(t *testing.T, ca certs.Authority, a, b mountedReplica) {
	const bad, good = "Cannot use the mounted certificate files; retrying", "The mounted certificate files are valid again"
	torn := maps.Clone(issue(t, ca))
	torn["tls.key"] = issue(t, ca)["tls.key"]
	logsAfter(t, bad, func() { write(t, a, torn); write(t, b, nil) }, a, b)
	ready(t, a.replica, b.replica)
	turns(t, func() { logsAfter(t, good, func() { mount(t, ca, a, b) }, a, b) }, a, b)
	ready(t, a.replica, b.replica)
}

// testDistrust: a caller that does not trust the leaf, or calls it by a different
// name, is a reason not to be ready.
func testDistrust(t *testing.T, c client.Client, other, own certs.Authority, a mountedReplica) {
	inject(t, c, other)
	becomesUnready(t, a, `MutatingWebhookConfiguration "mounted", webhook "a.certs.example": caBundle does not trust the served certificate: x509: certificate signed by unknown authority`)
	inject(t, c, own)
	ready(t, a.replica)
	wrong := client.RawPatch(types.JSONPatchType,
		[]byte(`[{"op":"replace","path":"/webhooks/0/clientConfig/url","value":"https://localhost:1/allow"}]`))
	if err := c.Patch(t.Context(), mutating("mounted", a.replica), wrong); err != nil {
		t.Fatal(err)
	}
	becomesUnready(t, a, `MutatingWebhookConfiguration "mounted", webhook "a.certs.example": x509: certificate is not valid for any names, but wanted to match localhost`)
}

// becomesUnready waits for the reason of a replica that may still be ready.
func becomesUnready(t *testing.T, m mountedReplica, reason string) {
	t.Helper()
	eventually(t, "reason not to be ready", func() error {
		if err := m.Ready(nil); err == nil || !strings.Contains(err.Error(), reason) {
			return fmt.Errorf("want %q, got: %w", reason, err)
		}
		return nil
	})
}
