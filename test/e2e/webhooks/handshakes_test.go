package webhooks

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// serverName is what the API server calls the webhooks.
const serverName = "kyklos-webhook.kyklos-system.svc"

// bundles returns the CAs that each caller of the webhooks trusts.
func (s *scenario) bundles(ctx context.Context) (map[string][]byte, error) {
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{}
	definition := &apiextensionsv1.CustomResourceDefinition{}
	for object, name := range map[client.Object]string{
		validating: "kyklos-webhook", mutating: "kyklos-webhook", definition: "timewindowscalers.kyklos.io",
	} {
		if err := s.Client.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
			return nil, err
		}
	}
	return map[string][]byte{
		"validating": validating.Webhooks[0].ClientConfig.CABundle,
		"mutating":   mutating.Webhooks[0].ClientConfig.CABundle,
		"conversion": definition.Spec.Conversion.Webhook.ClientConfig.CABundle,
	}, nil
}

// handshakes opens new connections to every manager all the time. The API server keeps its connections.
type handshakes struct {
	mu       sync.Mutex
	count    int
	failures []error
	// leaves and authorities are the certificates seen, by port.
	leaves, authorities map[int]map[string]bool
}

func newHandshakes(ports []int) *handshakes {
	w := &handshakes{leaves: map[int]map[string]bool{}, authorities: map[int]map[string]bool{}}
	for _, port := range ports {
		w.leaves[port], w.authorities[port] = map[string]bool{}, map[string]bool{}
	}
	return w
}

// watch connects to the managers at these ports until ctx ends.
func (w *handshakes) watch(ctx context.Context, s *scenario, ports []int) {
	for ticker := time.NewTicker(200 * time.Millisecond); ; {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		trusted, err := s.bundles(context.WithoutCancel(ctx))
		if err != nil {
			w.fail(err)
			continue
		}
		for _, port := range ports {
			for caller, bundle := range trusted {
				w.connect(caller, bundle, port)
			}
		}
	}
}

func (w *handshakes) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failures = append(w.failures, err)
}

// connect connects to a manager with the CAs of a caller.
func (w *handshakes) connect(caller string, bundle []byte, port int) {
	chain, err := handshake(bundle, port)
	if err != nil {
		w.fail(fmt.Errorf("%s: %w", caller, err))
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.count++
	w.leaves[port][fingerprint(chain[0])] = true
	w.authorities[port][fingerprint(chain[len(chain)-1])] = true
}

// rotated returns an error until every manager has served more than count leaves and CAs.
func (w *handshakes) rotated(count int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for port := range w.leaves {
		if leaves, authorities := len(w.leaves[port]), len(w.authorities[port]); leaves <= count || authorities <= count {
			return fmt.Errorf("the manager at %d has served %d leaves of %d CAs", port, leaves, authorities)
		}
	}
	return nil
}

// handshake returns the verified chain, from the leaf to the CA.
func handshake(bundle []byte, port int) ([]*x509.Certificate, error) {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(bundle)
	connection, err := tls.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), &tls.Config{RootCAs: roots, ServerName: serverName})
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	return connection.ConnectionState().VerifiedChains[0], nil
}

func fingerprint(certificate *x509.Certificate) string {
	return fmt.Sprintf("%x", sha256.Sum256(certificate.Raw))
}
