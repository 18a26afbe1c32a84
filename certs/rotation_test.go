package certs_test

import (
	"bytes"
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
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/certs"
)

func TestOnAPIServer(t *testing.T) {
	admin, auditLog := startControlPlane(t)
	c := newClient(t, admin)
	create(t, c, gated(namespace), gated("rotation"), gated("steady"))

	// A group of their own: they run side by side and the control plane outlives them.
	t.Run("group", func(t *testing.T) {
		t.Run("a rotation refuses nothing", func(t *testing.T) {
			t.Parallel()
			testRotation(t, c, asKyklos(t, c, admin, "rotation"))
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
		Namespace: namespace, SecretName: "rotation", CADuration: time.Minute, LeafDuration: 15 * time.Second,
		ValidatingWebhookConfigurations: []string{"rotation"}, MutatingWebhookConfigurations: []string{"rotation"},
		CustomResourceDefinitions: []string{"widgets.certs.example"},
	}
	a, b := startReplica(t, kyklos, options), startReplica(t, kyklos, options)
	notReady(t, a, `ValidatingWebhookConfiguration "rotation" does not exist yet`)
	notReady(t, a, `CustomResourceDefinition "widgets.certs.example" does not exist yet`)

	foreign, expired := foreignCA(t, time.Now().Add(time.Hour)), foreignCA(t, time.Now().Add(-time.Hour))
	create(t, c, validating("rotation", bytes.Join([][]byte{expired, foreign}, nil), a, b), mutating("rotation", a))
	notReady(t, b, `CustomResourceDefinition "widgets.certs.example" does not exist yet`)
	create(t, c, widgets(b))
	ready(t, a, b)
	first := mustCA(t, c)
	eventually(t, "foreign CA kept, expired one pruned", func() error {
		return holds(t.Context(), c, foreign, nil, expired)
	})

	creates := inLoop(t, func(ctx context.Context) error { return createConfigMap(ctx, c) })
	handshakes := inLoop(t, func(ctx context.Context) error { return handshake(ctx, c, a, b) })
	turned(t, a, b) // a renewal under the same CA

	if err := c.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "rotation"}}); err != nil {
		t.Fatal(err)
	}
	second := nextCA(t, c, first)
	servedBy(t, second, a, b)
	third := nextCA(t, c, second)
	servedBy(t, third, a, b)
	eventually(t, "CAs that have expired are pruned", func() error { return holds(t.Context(), c, foreign, third, first.Raw) })
	ready(t, a, b)

	creates.none(t, "creates refused")
	handshakes.none(t, "handshakes failed")
	testReinjection(t, c, a, b)
}

// testReinjection takes the CA away, as a tool does that replaces the object
// with its manifest.
func testReinjection(t *testing.T, c client.Client, a, b replica) {
	config := validating("rotation", nil, a, b)
	current := validating("rotation", nil)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(current), current); err != nil {
		t.Fatal(err)
	}
	config.ResourceVersion = current.ResourceVersion
	if err := c.Update(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	eventually(t, "CA published again", func() error { return holds(t.Context(), c, nil, mustCA(t, c), nil) })
	ready(t, a, b)
	eventually(t, "create after the CA is published again", func() error { return createConfigMap(t.Context(), c) })

	managers := map[string]bool{}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: "widgets.certs.example"}, definition); err != nil {
		t.Fatal(err)
	}
	for _, entry := range definition.ManagedFields {
		managers[entry.Manager] = strings.Contains(string(entry.FieldsV1.Raw), "f:caBundle")
	}
	if !managers["kyklos-certs"] {
		t.Errorf("kyklos-certs does not own the definition's caBundle: %v", managers)
	}
}

func ready(t *testing.T, replicas ...replica) {
	t.Helper()
	for _, r := range replicas {
		eventually(t, "ready", func() error { return r.Ready(nil) })
	}
}

// notReady waits for the reason and fails if the replica is ready before.
func notReady(t *testing.T, r replica, reason string) {
	t.Helper()
	eventually(t, "reason not to be ready", func() error {
		err := r.Ready(nil)
		if err == nil {
			t.Fatalf("ready, want: %s", reason)
		}
		if !strings.Contains(err.Error(), reason) {
			return fmt.Errorf("want %q, got: %w", reason, err)
		}
		return nil
	})
}

// turned waits until every replica presents another leaf than now.
func turned(t *testing.T, replicas ...replica) {
	t.Helper()
	for _, r := range replicas {
		before, err := r.leaf(nil)
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "renewed leaf", func() error {
			now, err := r.leaf(nil)
			if err == nil && now.Equal(before) {
				err = fmt.Errorf("still the one of %s", before.NotBefore)
			}
			return err
		})
	}
}

func servedBy(t *testing.T, ca *x509.Certificate, replicas ...replica) {
	t.Helper()
	for _, r := range replicas {
		eventually(t, "leaf of the new CA", func() error {
			leaf, err := r.leaf(nil)
			if err != nil {
				return err
			}
			return leaf.CheckSignatureFrom(ca)
		})
	}
}

func mustCA(t *testing.T, c client.Client) *x509.Certificate {
	t.Helper()
	ca, err := currentCA(t.Context(), c, "rotation")
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func nextCA(t *testing.T, c client.Client, before *x509.Certificate) (ca *x509.Certificate) {
	t.Helper()
	eventually(t, "a new CA", func() (err error) {
		if ca, err = currentCA(t.Context(), c, "rotation"); err == nil && ca.Equal(before) {
			err = fmt.Errorf("still the one until %s", before.NotAfter)
		}
		return err
	})
	return ca
}

// holds checks that every caBundle has the foreign PEM and the CA, and not the
// certificate that is gone; nil means any.
func holds(ctx context.Context, c client.Client, foreign []byte, ca *x509.Certificate, gone []byte) error {
	all, err := bundles(ctx, c, "rotation")
	if err != nil {
		return err
	}
	for _, bundle := range all {
		var found bool
		for _, cert := range decode(bundle) {
			found = found || ca == nil || cert.Equal(ca)
			if bytes.Equal(cert.Raw, gone) || bytes.Equal(encode(cert), gone) {
				return fmt.Errorf("still there: the certificate until %s", cert.NotAfter)
			}
		}
		if !found || !bytes.Contains(bundle, foreign) {
			return fmt.Errorf("the CA (%t) or the foreign certificate is missing", found)
		}
	}
	return nil
}

// loop counts what a repeated action did.
type loop struct {
	stop        func()
	done, wrong atomic.Int64
}

// inLoop repeats action, one after the other, until none is called.
func inLoop(t *testing.T, action func(context.Context) error) *loop {
	l := &loop{}
	l.stop = inBackground(t, "loop", func(ctx context.Context) error {
		for ctx.Err() == nil {
			// Not ctx: a stop in the middle of a request is not a refusal.
			if err := action(context.WithoutCancel(ctx)); err != nil {
				l.wrong.Add(1)
				t.Log(err)
			}
			l.done.Add(1)
		}
		return nil
	})
	return l
}

func (l *loop) none(t *testing.T, what string) {
	t.Helper()
	l.stop()
	t.Logf("%s: %d of %d", what, l.wrong.Load(), l.done.Load())
	if l.wrong.Load() != 0 || l.done.Load() == 0 {
		t.Errorf("%s: %d of %d, want 0 of many", what, l.wrong.Load(), l.done.Load())
	}
}

func createConfigMap(ctx context.Context, c client.Client) error {
	return c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "rotation", GenerateName: "gated-"}})
}

// handshake connects to every replica as the API server does: with the caBundle
// published for it.
func handshake(ctx context.Context, c client.Client, replicas ...replica) error {
	all, err := bundles(ctx, c, "rotation")
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
