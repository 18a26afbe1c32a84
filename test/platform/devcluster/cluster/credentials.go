package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"kyklos.io/kyklos/test/platform/devcluster/externalmetrics"
)

const (
	// adminUser is the user of the kubeconfig.
	adminUser = "admin"
	// componentUser is the user of the controllers and the kubelet: a name of its own, so that an audit log
	// distinguishes their requests from a person's.
	componentUser = "system:devcluster"
	// aggregatorUser is the user of the API server when it passes a request on to an API service.
	aggregatorUser = "system:aggregator"
	// validity of the certificates; a development folder is thrown away long before.
	validity = 10 * 365 * 24 * time.Hour
)

// Credentials are what the folder keeps so that a client stays valid over restarts: the certificates,
// the key that signs ServiceAccount tokens, and one static token per user in system:masters.
type Credentials struct {
	CA     []byte
	tokens map[string]string
}

// credentials loads them, making all of them in a new folder, and in one that lacks some: as an older
// devcluster left it, or a start that was cut short, for the token file is written last.
func (d *Dir) credentials(now time.Time) (*Credentials, error) {
	if !d.hasCredentials() {
		if err := d.makeCredentials(now); err != nil {
			return nil, fmt.Errorf("making the cluster's credentials: %w", err)
		}
	}
	ca, err := os.ReadFile(d.Path("pki", "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	table, err := os.ReadFile(d.Path("pki", "tokens.csv"))
	if err != nil {
		return nil, fmt.Errorf("reading the tokens: %w", err)
	}
	c := &Credentials{CA: ca, tokens: map[string]string{}}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Split(line, ","); len(fields) > 1 {
			c.tokens[fields[1]] = fields[0]
		}
	}
	return c, nil
}

func (d *Dir) hasCredentials() bool {
	files := []string{"tokens.csv"}
	for _, leaf := range leaves {
		files = append(files, leaf.file+".crt")
	}
	return !slices.ContainsFunc(files, func(file string) bool {
		_, err := os.Stat(d.Path("pki", file))
		return errors.Is(err, fs.ErrNotExist)
	})
}

func (d *Dir) makeCredentials(now time.Time) error {
	if err := os.MkdirAll(d.Path("pki"), 0o700); err != nil {
		return err
	}
	// P-256 keys take microseconds; the API server's own RSA pair would cost a good part of a second.
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	if err := d.writeKey("sa.key", signer); err != nil {
		return err
	}
	if err := d.makeCertificates(now); err != nil {
		return err
	}
	var table strings.Builder
	for _, user := range []string{adminUser, componentUser} {
		fmt.Fprintf(&table, "%s,%s,%s,system:masters\n", rand.Text(), user, user)
	}
	return os.WriteFile(d.Path("pki", "tokens.csv"), []byte(table.String()), 0o600)
}

// leaves are the certificates that the authority signs: the API server's, for every name it has on this
// machine and inside the cluster, the pair between the aggregator and an API service, and the pair between
// the API server and the kubelet.
var leaves = []struct {
	file, name string
	usage      x509.ExtKeyUsage
	hosts      []string
	addresses  []net.IP
}{
	{"apiserver", "kube-apiserver", x509.ExtKeyUsageServerAuth,
		[]string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		[]net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)}},
	{"external-metrics", "external-metrics", x509.ExtKeyUsageServerAuth, []string{externalmetrics.ServerName}, nil},
	{"aggregator", aggregatorUser, x509.ExtKeyUsageClientAuth, nil, nil},
	{"kubelet", "kubelet", x509.ExtKeyUsageServerAuth, nil, []net.IP{net.IPv4(127, 0, 0, 1)}},
	{"kubelet-client", "kube-apiserver-kubelet-client", x509.ExtKeyUsageClientAuth, nil, nil},
}

// makeCertificates writes a certificate authority and the leaves. The authority's key is not kept.
func (d *Dir) makeCertificates(now time.Time) error {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "devcluster"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(validity),
		KeyUsage: x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	if err := d.writeCertificate("ca.crt", ca, ca, &caKey.PublicKey, caKey); err != nil {
		return err
	}
	for i, leaf := range leaves {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return err
		}
		if err := d.writeKey(leaf.file+".key", key); err != nil {
			return err
		}
		certificate := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i) + 2), Subject: pkix.Name{CommonName: leaf.name},
			NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{leaf.usage},
			DNSNames: leaf.hosts, IPAddresses: leaf.addresses,
		}
		if err := d.writeCertificate(leaf.file+".crt", certificate, ca, &key.PublicKey, caKey); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dir) writeKey(name string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return d.writePEM(name, "EC PRIVATE KEY", der)
}

func (d *Dir) writeCertificate(name string, cert, parent *x509.Certificate, public *ecdsa.PublicKey, signer *ecdsa.PrivateKey) error {
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, public, signer)
	if err != nil {
		return err
	}
	return d.writePEM(name, "CERTIFICATE", der)
}

func (d *Dir) writePEM(name, kind string, der []byte) error {
	return os.WriteFile(d.Path("pki", name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}

// client returns the settings to speak to host as the user, without a client-side rate limit.
func (c *Credentials) client(host, user string) *rest.Config {
	return &rest.Config{
		Host: host, BearerToken: c.tokens[user], UserAgent: "devcluster", QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.CA},
	}
}

// writeKubeconfig writes a user's kubeconfig, readable by its owner only, and returns its path.
func (d *Dir) writeKubeconfig(file string, c *Credentials, host, user string) (string, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["devcluster"] = &clientcmdapi.Cluster{Server: host, CertificateAuthorityData: c.CA}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: c.tokens[user]}
	config.Contexts["devcluster"] = &clientcmdapi.Context{Cluster: "devcluster", AuthInfo: user}
	config.CurrentContext = "devcluster"
	path := d.Path(file)
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("writing the kubeconfig: %w", err)
	}
	return path, os.Chmod(path, 0o600)
}
