package certs_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ready waits until every replica is ready and listens.
func ready(t *testing.T, replicas ...replica) {
	t.Helper()
	for _, r := range replicas {
		eventually(t, "ready", func() error { return r.Ready(nil) })
		eventually(t, "listening", func() error { _, err := r.leaf(nil); return err })
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

// turned waits until every replica presents a new leaf.
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

// holds checks that every caBundle has the present certificates and not the
// removed one.
func holds(ctx context.Context, c client.Client, gone *x509.Certificate, present ...*x509.Certificate) error {
	all, err := bundles(ctx, c, "rotation")
	if err != nil {
		return err
	}
	for _, bundle := range all {
		if bytes.Contains(bundle, encode(gone)) {
			return fmt.Errorf("still there: the certificate until %s", gone.NotAfter)
		}
		for _, cert := range present {
			if !bytes.Contains(bundle, encode(cert)) {
				return fmt.Errorf("missing: the certificate until %s", cert.NotAfter)
			}
		}
	}
	return nil
}
