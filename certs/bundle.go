package certs

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"time"
)

const pemCertificate = "CERTIFICATE"

// mergeBundle adds own to the caBundle bundle. Certificates of others keep their order as long as they are valid or will
// be; own ones are appended. Expired ones and duplicates are removed.
//
// changed is false if there is nothing to do; merged is then bundle itself. Blocks that are not certificates are dropped
// in a rewrite, but do not cause one.
func mergeBundle(bundle []byte, own []*x509.Certificate, now time.Time) (merged []byte, changed bool) {
	present := parseBundle(bundle)
	kept := unexpired(present, now)
	all := unexpired(append(kept[:len(kept):len(kept)], own...), now)
	if len(kept) == len(present) && len(all) == len(kept) {
		return bundle, false
	}
	for _, cert := range all {
		merged = append(merged, pem.EncodeToMemory(&pem.Block{Type: pemCertificate, Bytes: cert.Raw})...)
	}
	return merged, true
}

// parseBundle returns the certificates in a PEM bundle. Like a TLS client, it skips everything else.
func parseBundle(bundle []byte) []*x509.Certificate {
	var certs []*x509.Certificate
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != pemCertificate {
			continue
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil {
			certs = append(certs, cert)
		}
	}
	return certs
}

// chains verifies pair like a TLS client that trusts only the roots.
func chains(pair *tls.Certificate, roots []*x509.Certificate, now time.Time) ([][]*x509.Certificate, error) {
	options := x509.VerifyOptions{
		Roots: x509.NewCertPool(), Intermediates: x509.NewCertPool(),
		CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, cert := range roots {
		options.Roots.AddCert(cert)
	}
	for i, der := range pair.Certificate {
		if cert, err := x509.ParseCertificate(der); err == nil && i > 0 {
			options.Intermediates.AddCert(cert)
		}
	}
	return pair.Leaf.Verify(options)
}

// trustedUntil returns the expiry of the last root that pair chains to; zero if there is none.
func trustedUntil(pair *tls.Certificate, roots []*x509.Certificate, now time.Time) (until time.Time) {
	found, err := chains(pair, roots, now)
	if err != nil {
		return until
	}
	for _, chain := range found {
		if root := chain[len(chain)-1]; root.NotAfter.After(until) {
			until = root.NotAfter
		}
	}
	return until
}

// unexpired returns the certificates that have not expired, each once.
func unexpired(certs []*x509.Certificate, now time.Time) []*x509.Certificate {
	var keep []*x509.Certificate
	seen := map[string]bool{}
	for _, cert := range certs {
		if seen[string(cert.Raw)] || now.After(cert.NotAfter) {
			continue
		}
		seen[string(cert.Raw)] = true
		keep = append(keep, cert)
	}
	return keep
}
