package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"
	"time"
)

// noon is the time of the pure tests.
var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// testCA is a CA with its key.
type testCA struct {
	*x509.Certificate
	key crypto.Signer
}

// newCA issues a CA valid from an hour before noon until notAfter. All have the
// same subject, as the CAs of one Secret do.
func newCA(t testing.TB, notAfter time.Time) testCA {
	t.Helper()
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: caCommonName},
		NotBefore: noon.Add(-time.Hour), NotAfter: notAfter,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key := newKey(t)
	return testCA{sign(t, template, template, key.Public(), key), key}
}

// leaf issues a serving certificate for the host, valid for an hour from noon.
func (ca testCA) leaf(t testing.TB, host string) *x509.Certificate {
	t.Helper()
	hosts, addresses := splitNames([]string{host})
	template := &x509.Certificate{
		DNSNames: hosts, IPAddresses: addresses, NotBefore: noon, NotAfter: noon.Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	return sign(t, template, ca.Certificate, newKey(t).Public(), ca.key)
}

func newKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, template, parent *x509.Certificate, public crypto.PublicKey, key crypto.Signer) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// bundleOf encodes certificates as a caBundle.
func bundleOf(certs ...*x509.Certificate) (bundle []byte) {
	for _, cert := range certs {
		bundle = append(bundle, pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: cert.Raw})...)
	}
	return bundle
}
