package certs_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/certs"
)

// service is one address in front of the replica that is behind it now.
type service struct {
	replica // where it listens
	behind  atomic.Pointer[string]
}

func startService(t *testing.T) *service {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	s := &service{replica: replica{address: listener.Addr().String()}}
	go func() {
		for {
			caller, err := listener.Accept()
			if err != nil {
				return
			}
			go s.forward(caller)
		}
	}()
	return s
}

func (s *service) forward(caller net.Conn) {
	defer caller.Close()
	address := s.behind.Load()
	if address == nil {
		return // a controller's ConfigMap, before there is a replica
	}
	replica, err := net.Dial("tcp", *address)
	if err != nil {
		return
	}
	defer replica.Close()
	go func() { _, _ = io.Copy(replica, caller) }()
	_, _ = io.Copy(caller, replica)
}

// testSwitch takes an installation that keeps its own CA to files and back, as
// docs/certificates.md says: what is new is trusted and ready before it is called,
// and what was trusted before goes last.
func testSwitch(t *testing.T, c client.Client, kyklos *rest.Config) {
	callers := certs.Callers{ValidatingWebhookConfigurations: []string{"switch"}}
	options := certs.Options{Namespace: namespace, SecretName: "switch", LeafDuration: 15 * time.Second, CADuration: time.Hour, Callers: callers}
	front := startService(t)
	create(t, c, validating("switch", nil, front.replica))

	own := startReplica(t, kyklos, options)
	ready(t, own)
	front.behind.Store(&own.address)
	eventually(t, "first create", func() error { return createConfigMap(t.Context(), c, "switch") })
	ownCA, err := currentCA(t.Context(), c, "switch")
	if err != nil {
		t.Fatal(err)
	}
	creates := inLoop(t, func(ctx context.Context) error { return createConfigMap(ctx, c, "switch") })

	files := startMounted(t, kyklos, callers)
	filesCA := newAuthority(t)
	mount(t, filesCA, files)
	notReady(t, files.replica, "caBundle does not trust the served certificate")
	rebundle(t, c, func(bundle []byte) []byte { return append(bundle, encode(filesCA.Certificate)...) })
	ready(t, files.replica)
	caughtUp(t, c, "seen-files")
	front.behind.Store(&files.address)
	many(t, creates)
	own.stop()
	rebundle(t, c, func([]byte) []byte { return encode(filesCA.Certificate) })
	many(t, creates)

	own = startReplica(t, kyklos, options)
	ready(t, own)
	caughtUp(t, c, "seen-own")
	front.behind.Store(&own.address)
	many(t, creates)
	files.stop()
	rebundle(t, c, func([]byte) []byte { return encode(ownCA) })
	many(t, creates)
	ready(t, own)
	creates.none(t, "creates refused by a switch")
}

// caughtUp waits until the API server has seen all webhook configurations as they
// are: its watch may be a moment behind the replica's, and the replacement for the
// Service here is quicker than a kubelet's probes.
func caughtUp(t *testing.T, c client.Client, name string) {
	t.Helper()
	unanswered := validating(name, nil, replica{address: "127.0.0.1:1"})
	create(t, c, gated(name), unanswered)
	eventually(t, "a create that meets the newest configuration", func() error {
		if createConfigMap(t.Context(), c, name) == nil {
			return fmt.Errorf("no caller was asked")
		}
		return nil
	})
	if err := c.Delete(t.Context(), unanswered); err != nil {
		t.Fatal(err)
	}
}

// many waits until the load has gone on for a while.
func many(t *testing.T, l *loop) {
	t.Helper()
	before := l.done.Load()
	eventually(t, "twenty creates", func() error {
		if done := l.done.Load() - before; done < 20 {
			return fmt.Errorf("only %d", done)
		}
		return nil
	})
}

// rebundle changes what the caller trusts.
func rebundle(t *testing.T, c client.Client, change func([]byte) []byte) {
	t.Helper()
	eventually(t, "a bundle without a conflict", func() error {
		config := &admissionv1.ValidatingWebhookConfiguration{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: "switch"}, config); err != nil {
			return err
		}
		config.Webhooks[0].ClientConfig.CABundle = change(slices.Clone(config.Webhooks[0].ClientConfig.CABundle))
		return c.Update(t.Context(), config)
	})
}
