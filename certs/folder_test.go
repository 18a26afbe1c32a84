package certs

import (
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Folder is a Secret's volume as a kubelet keeps it: the files are links through
// ..data, which is turned from one generation to the next at once.
type Folder struct {
	Dir        string
	generation int
}

func NewFolder(t testing.TB) *Folder {
	t.Helper()
	return &Folder{Dir: t.TempDir()}
}

// Write makes contents, by file name, the whole content of the volume.
func (f *Folder) Write(contents map[string][]byte) error {
	before, _ := filepath.EvalSymlinks(filepath.Join(f.Dir, "..data"))
	f.generation++
	name := fmt.Sprintf("..generation_%d", f.generation)
	if err := os.Mkdir(filepath.Join(f.Dir, name), 0o755); err != nil {
		return err
	}
	for file, content := range contents {
		if err := os.WriteFile(filepath.Join(f.Dir, name, file), content, 0o600); err != nil {
			return err
		}
	}
	temporary := filepath.Join(f.Dir, "..data_tmp")
	if err := os.Symlink(name, temporary); err != nil {
		return err
	}
	if err := os.Rename(temporary, filepath.Join(f.Dir, "..data")); err != nil {
		return err
	}
	for _, file := range []string{"tls.crt", "tls.key", "ca.crt"} {
		link := filepath.Join(f.Dir, file)
		_, wanted := contents[file]
		switch _, err := os.Lstat(link); {
		case wanted && err != nil:
			if err := os.Symlink(filepath.Join("..data", file), link); err != nil {
				return err
			}
		case !wanted && err == nil:
			if err := os.Remove(link); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(before) // nothing to do for the empty path
}

// Authority is a CA that issues what is mounted.
type Authority struct {
	*x509.Certificate
	key crypto.Signer
	// Chain is served behind the leaf: the CA itself, if it is an intermediate one.
	Chain []*x509.Certificate
}

// NewAuthority makes a CA valid from and until the given times.
func NewAuthority(t testing.TB, from, until time.Time) Authority {
	t.Helper()
	key := newKey(t)
	template := caTemplate(from, until)
	return Authority{Certificate: sign(t, template, template, key.Public(), key), key: key}
}

// Intermediate makes a CA that this one has signed.
func (a Authority) Intermediate(t testing.TB) Authority {
	t.Helper()
	key := newKey(t)
	cert := sign(t, caTemplate(a.NotBefore, a.NotAfter), a.Certificate, key.Public(), a.key)
	return Authority{Certificate: cert, key: key, Chain: []*x509.Certificate{cert}}
}

func caTemplate(from, until time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject: pkix.Name{CommonName: "kyklos-ca"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
}

// Issue makes the files of a leaf for the names, as cert-manager fills a Secret.
func (a Authority) Issue(t testing.TB, from, until time.Time, names ...string) map[string][]byte {
	t.Helper()
	template := &x509.Certificate{NotBefore: from, NotAfter: until, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	template.DNSNames, template.IPAddresses = splitNames(names)
	key := newKey(t)
	leaf := sign(t, template, a.Certificate, key.Public(), a.key)
	return map[string][]byte{
		"tls.crt": bundleOf(append([]*x509.Certificate{leaf}, a.Chain...)...), "tls.key": keyPEM(t, key), "ca.crt": bundleOf(a.Certificate),
	}
}

// Own are the files of the CA itself, as the Secret that cert-manager keeps it in.
func (a Authority) Own(t testing.TB) map[string][]byte {
	t.Helper()
	return map[string][]byte{"tls.crt": bundleOf(a.Certificate), "tls.key": keyPEM(t, a.key), "ca.crt": bundleOf(a.Certificate)}
}

func keyPEM(t testing.TB, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
