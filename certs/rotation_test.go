package certs_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/certs"
)

func TestOnAPIServer(t *testing.T) {
	admin, auditLog := startControlPlane(t)
	c := newClient(t, admin)
	create(t, c, gated(namespace), gated("rotation"), gated("steady"), gated("mounted"), gated("switch"))

	// One group: they run in parallel, and the control plane outlives them.
	t.Run("group", func(t *testing.T) {
		t.Run("a rotation refuses nothing", func(t *testing.T) {
			t.Parallel()
			testRotation(t, c, asKyklos(t, c, admin, "rotation"))
		})
		t.Run("files rotate and refuse nothing", func(t *testing.T) {
			t.Parallel()
			testFiles(t, c, asReader(t, c, admin, "mounted"), auditLog)
		})
		t.Run("a switch between the modes refuses nothing", func(t *testing.T) {
			t.Parallel()
			testSwitch(t, c, asKyklos(t, c, admin, "switch"))
		})
		t.Run("a CA of a clock that was ahead is replaced", func(t *testing.T) {
			t.Parallel()
			testAhead(t, c, asKyklos(t, c, admin, "ahead"))
		})
		t.Run("the steady state sends nothing", func(t *testing.T) {
			t.Parallel()
			testSteadyState(t, c, asKyklos(t, c, admin, "steady"), auditLog)
		})
	})
}

// testRotation follows two replicas through the life of their certificates: the
// CA is replaced once by force and once because of its age.
func testRotation(t *testing.T, c client.Client, kyklos *rest.Config) {
	options := certs.Options{
		Namespace: namespace, SecretName: "rotation", CADuration: time.Minute, LeafDuration: 20 * time.Second,
		Callers: certs.Callers{
			ValidatingWebhookConfigurations: []string{"rotation"}, MutatingWebhookConfigurations: []string{"rotation"},
			CustomResourceDefinitions: []string{"widgets.certs.example"},
		},
	}
	a, b := startReplica(t, kyklos, options), startReplica(t, kyklos, options)
	notReady(t, a, `ValidatingWebhookConfiguration "rotation" does not exist yet`)
	notReady(t, a, `CustomResourceDefinition "widgets.certs.example" does not exist yet`)

	foreign, expired := foreignCA(t, time.Now().Add(time.Hour)), foreignCA(t, time.Now().Add(-time.Hour))
	create(t, c, validating("rotation", append(encode(expired), encode(foreign)...), a, b), mutating("rotation", a))
	notReady(t, b, `CustomResourceDefinition "widgets.certs.example" does not exist yet`)
	create(t, c, definition("Widget", "widgets", b))
	ready(t, a, b)
	first := mustCA(t, c)
	eventually(t, "foreign CA kept, expired one pruned", func() error {
		return holds(t.Context(), c, expired, foreign, first)
	})

	// The API server's own watch may be a moment behind the one of the test.
	eventually(t, "first create", func() error { return createConfigMap(t.Context(), c, "rotation") })

	creates := inLoop(t, func(ctx context.Context) error { return createConfigMap(ctx, c, "rotation") })
	handshakes := inLoop(t, func(ctx context.Context) error { return handshake(ctx, c, "rotation", a, b) })
	turned(t, a, b) // a renewal under the same CA

	if err := c.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "rotation"}}); err != nil {
		t.Fatal(err)
	}
	second := nextCA(t, c, first)
	servedBy(t, second, a, b)
	third := nextCA(t, c, second)
	servedBy(t, third, a, b)
	eventually(t, "expired CA pruned", func() error { return holds(t.Context(), c, first, foreign, third) })
	ready(t, a, b)

	creates.none(t, "creates refused")
	handshakes.none(t, "handshakes failed")
	testReinjection(t, c, foreign, a, b)
	testWrongNameAndRemoval(t, c, a)
}

// testReinjection removes all CAs, as a tool does that replaces the object
// with its manifest.
func testReinjection(t *testing.T, c client.Client, foreign *x509.Certificate, a, b replica) {
	config := validating("rotation", nil, a, b)
	current := validating("rotation", nil)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(current), current); err != nil {
		t.Fatal(err)
	}
	config.ResourceVersion = current.ResourceVersion
	if err := c.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	eventually(t, "CA published again", func() error { return holds(t.Context(), c, foreign, mustCA(t, c)) })
	ready(t, a, b)
	eventually(t, "create after the CA is published again", func() error { return createConfigMap(t.Context(), c, "rotation") })
	fieldOwner(t, c)
}

// fieldOwner checks who manages the field, as a GitOps tool sees it.
func fieldOwner(t *testing.T, c client.Client) {
	t.Helper()
	managers := map[string]bool{}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "widgets.certs.example"}, definition); err != nil {
		t.Fatal(err)
	}
	for _, entry := range definition.ManagedFields {
		managers[entry.Manager] = strings.Contains(entry.FieldsV1.GetRawString(), "f:caBundle")
	}
	if !managers["kyklos-certs"] {
		t.Errorf("kyklos-certs does not own the definition's caBundle: %v", managers)
	}
}

// testWrongNameAndRemoval: a host the certificate does not name is a reason not
// to be ready; a configuration that is deleted is not.
func testWrongNameAndRemoval(t *testing.T, c client.Client, a replica) {
	config := mutating("rotation", a)
	wrong := client.RawPatch(types.JSONPatchType,
		[]byte(`[{"op":"replace","path":"/webhooks/0/clientConfig/url","value":"https://localhost:1/allow"}]`))
	if err := c.Patch(t.Context(), config, wrong); err != nil {
		t.Fatal(err)
	}
	const reason = `MutatingWebhookConfiguration "rotation", webhook "a.certs.example": x509: certificate is not valid for any names, but wanted to match localhost`
	eventually(t, "reason not to be ready", func() error {
		if err := a.Ready(nil); err == nil || err.Error() != reason {
			return fmt.Errorf("want %q, got: %w", reason, err)
		}
		return nil
	})
	if err := c.Delete(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	ready(t, a)
}

// loop counts the results of a repeated action.
type loop struct {
	stop                 func()
	done, wrong, expired atomic.Int64
	slowest              time.Duration // to be read after stop
}

// inLoop repeats action, one after the other, until none is called.
func inLoop(t *testing.T, action func(context.Context) error) *loop {
	l := &loop{}
	l.stop = inBackground(t, "loop", func(ctx context.Context) error {
		for ctx.Err() == nil {
			began := time.Now()
			// Not ctx: a stop in the middle of a request is not a refusal.
			if err := action(context.WithoutCancel(ctx)); err != nil {
				t.Log(err)
				if strings.Contains(err.Error(), "certificate has expired") {
					l.expired.Add(1)
				} else {
					l.wrong.Add(1)
				}
			}
			l.slowest = max(l.slowest, time.Since(began))
			l.done.Add(1)
		}
		return nil
	})
	return l
}

// none fails if anything was refused. A leaf has a few seconds left when it is to be renewed: a machine that needs
// one of them for a single action may need them all for the renewal, so that proves nothing about the renewal. A
// certificate that is not trusted is not the machine's fault.
func (l *loop) none(t *testing.T, what string) {
	t.Helper()
	l.stop()
	wrong, expired, done := l.wrong.Load(), l.expired.Load(), l.done.Load()
	starved := l.slowest > time.Second
	t.Logf("%s: %d of %d, and %d for a leaf's age; the slowest took %s", what, wrong, done, expired, l.slowest)
	if wrong != 0 || expired != 0 && !starved || done == 0 {
		t.Errorf("%s: %d and %d of %d, want 0 of many", what, wrong, expired, done)
	}
}

func createConfigMap(ctx context.Context, c client.Client, namespace string) error {
	return c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "gated-"}})
}

// handshake connects to every replica as the API server does: with the caBundle
// published for it in the configuration of this name.
func handshake(ctx context.Context, c client.Client, name string, replicas ...replica) error {
	all, err := bundles(ctx, c, name)
	if err != nil {
		return err
	}
	for i, r := range replicas {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(all[i])
		if _, err := r.leaf(roots); err != nil {
			return err
		}
	}
	return nil
}
