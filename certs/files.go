package certs

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// caKey is where cert-manager puts the CA in a Secret of type kubernetes.io/tls.
const caKey = "ca.crt"

// files is the content of a mounted Secret.
type files struct {
	cert, key, ca []byte
}

func (f files) equal(other files) bool {
	return bytes.Equal(f.cert, other.cert) && bytes.Equal(f.key, other.key) && bytes.Equal(f.ca, other.ca)
}

// readFiles reads all files of one generation. A kubelet writes a new generation into its own folder and then moves the
// link ..data: following the link for each file could mix the certificate of one generation with the key of the next.
func readFiles(dir string) (f files, err error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, fmt.Errorf("the folder %s does not exist: mount the Secret of the certificate there", dir)
	case err != nil:
		return f, fmt.Errorf("cannot read the folder: %w", err)
	case len(entries) == 0:
		return f, fmt.Errorf("the folder %s is empty: the Secret mounted there needs the keys %s and %s", dir, corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	generation := generationOf(dir)
	read := func(name string) []byte {
		content, e := os.ReadFile(filepath.Join(generation, name))
		switch {
		case errors.Is(e, fs.ErrNotExist) && name == caKey: // optional
		case errors.Is(e, fs.ErrNotExist):
			err = errors.Join(err, fmt.Errorf("%s does not exist: the Secret mounted at %s needs the key %s", filepath.Join(dir, name), dir, name))
		case e != nil:
			err = errors.Join(err, fmt.Errorf("cannot read the certificate: %w", e))
		}
		return content
	}
	f = files{cert: read(corev1.TLSCertKey), key: read(corev1.TLSPrivateKeyKey), ca: read(caKey)}
	return f, err
}

// generationOf returns the folder of the current generation; dir itself if no kubelet manages it. It reads the link
// without following it: a generation that is deleted meanwhile must not fall back to the files in dir.
func generationOf(dir string) string {
	data, err := os.Readlink(filepath.Join(dir, "..data"))
	switch {
	case err != nil:
		return dir
	case filepath.IsAbs(data):
		return data
	}
	return dir + string(filepath.Separator) + data
}

// pair parses the certificate and its key. An error names the invalid file in dir.
func (f files) pair(dir string) (*tls.Certificate, error) {
	certFile, keyFile := filepath.Join(dir, corev1.TLSCertKey), filepath.Join(dir, corev1.TLSPrivateKeyKey)
	block, _ := pem.Decode(f.cert)
	for rest := f.cert; block != nil && block.Type != pemCertificate; {
		block, rest = pem.Decode(rest)
	}
	if block == nil {
		return nil, fmt.Errorf("%s holds no certificate: it needs a PEM block %s, the serving certificate first", certFile, pemCertificate)
	}
	if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		return nil, fmt.Errorf("%s holds a broken certificate: %w", certFile, err)
	}
	if key, _ := pem.Decode(f.key); key == nil {
		return nil, fmt.Errorf("%s holds no private key: it needs a PEM block PRIVATE KEY", keyFile)
	}
	pair, err := tls.X509KeyPair(f.cert, f.key)
	if err != nil {
		return nil, fmt.Errorf("%s is not the key of the first certificate in %s, both must come from one pair: %w", keyFile, certFile, err)
	}
	return &pair, nil
}

// unusable returns why a leaf from file cannot be served under any of the names at now; nil if it can.
func unusable(leaf *x509.Certificate, file string, names []string, now time.Time) error {
	if !coversAny(leaf, names) {
		if leaf.IsCA {
			return fmt.Errorf("%s holds the certificate of a CA (%s) and not one for the webhooks: mount the Secret of the serving certificate", file, leaf.Subject)
		}
		return fmt.Errorf("the certificate in %s is for %s, but the webhooks are called by %s: issue it for one of these",
			file, cmp.Or(namesOf(leaf), "no name at all"), strings.Join(names, ", "))
	}
	return notValidAt(leaf, "the certificate in "+file, now)
}

// notValidAt returns an error if now is outside the leaf's validity period.
func notValidAt(leaf *x509.Certificate, what string, now time.Time) error {
	utc := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	switch {
	case now.After(leaf.NotAfter):
		return fmt.Errorf("%s expired at %s: renew it", what, utc(leaf.NotAfter))
	case now.Before(leaf.NotBefore):
		return fmt.Errorf("%s is not valid before %s: wait, or set the clock right", what, utc(leaf.NotBefore))
	}
	return nil
}

func coversAny(leaf *x509.Certificate, names []string) bool {
	for _, name := range names {
		if leaf.VerifyHostname(name) == nil {
			return true
		}
	}
	return false
}

func namesOf(leaf *x509.Certificate) string {
	names := leaf.DNSNames
	for _, address := range leaf.IPAddresses {
		names = append(names[:len(names):len(names)], address.String())
	}
	return strings.Join(names, ", ")
}
