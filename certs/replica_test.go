package certs_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/certs"
	"kyklos.io/kyklos/test/harness"
)

// replica is a manager with a webhook server on loopback that allows everything.
type replica struct {
	certs.Serving
	address string
	stop    func()
}

func (r replica) url() string { return "https://" + r.address + "/allow" }

// startReplica runs a manager with self-managed certificates until the test ends.
func startReplica(t *testing.T, config *rest.Config, options certs.Options) replica {
	t.Helper()
	options.RESTConfig = config
	options.DNSNames = []string{"127.0.0.1"}
	options.Log = testr.New(t)
	serving, err := certs.NewSelfManaged(options)
	if err != nil {
		t.Fatal(err)
	}
	return startServing(t, config, serving)
}

// startServing runs a manager until the test ends, or until stop is called. Each
// call by the API server needs its own handshake: the server closes the
// connection after it.
func startServing(t *testing.T, config *rest.Config, serving certs.Serving) replica {
	t.Helper()
	port, err := harness.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	onePerConnection := func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} }
	server := certs.WebhookServer(webhook.NewServer(webhook.Options{
		Host: "127.0.0.1", Port: port, TLSOpts: []func(*tls.Config){serving.TLSOpt, onePerConnection},
	}), serving)
	allow := &admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		return admission.Allowed("")
	})}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		WebhookServer: server, Metrics: metricsserver.Options{BindAddress: "0"}, Logger: testr.New(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	mgr.GetWebhookServer().Register("/allow", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		allow.ServeHTTP(w, r)
	}))
	stop := inBackground(t, "manager", mgr.Start)
	return replica{serving, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), stop}
}

// leaf makes a new connection and returns the certificate the replica presents.
func (r replica) leaf(roots *x509.CertPool) (*x509.Certificate, error) {
	conn, err := tls.Dial("tcp", r.address, &tls.Config{RootCAs: roots, InsecureSkipVerify: roots == nil})
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0], nil
}

// inBackground runs f until the test ends, or until stop is called, and waits for it.
func inBackground(t *testing.T, what string, f func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := f(ctx); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	})
	stop = func() { cancel(); wg.Wait() }
	t.Cleanup(stop)
	return stop
}

// eventually waits until check returns nil, and fails with its last error.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	err := fmt.Errorf("never checked")
	for deadline := time.Now().Add(90 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("%s: %v", what, err)
}
