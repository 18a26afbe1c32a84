package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	cmtls "github.com/cert-manager/cert-manager/pkg/server/tls"
	"github.com/cert-manager/cert-manager/pkg/server/tls/authority"
	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"
)

const (
	caCommonName = "kyklos-webhook-ca"
	// issueRetry is the interval between requests for a leaf while there is no CA.
	issueRetry = 200 * time.Millisecond
)

// SelfManaged serves certificates signed by a CA that the replicas keep in a Secret and publish themselves; see the
// package comment.
type SelfManaged struct {
	options   Options
	authority *reissuingAuthority
	source    *cmtls.DynamicSource
	publisher *publisher
	gate      *gate
	clock     clock.PassiveClock
}

var _ Serving = &SelfManaged{}

// NewSelfManaged prepares self-managed certificates. It sends no request; an error names the invalid option.
func NewSelfManaged(options Options) (*SelfManaged, error) {
	o, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	secret, err := newSecret(o)
	if err != nil {
		return nil, fmt.Errorf("certs: RESTConfig: %w", err)
	}
	targets, err := newTargets(o.RESTConfig, o.Callers, o.pace())
	if err != nil {
		return nil, fmt.Errorf("certs: RESTConfig: %w", err)
	}
	s := &SelfManaged{options: o, clock: o.Clock}
	s.authority = &reissuingAuthority{Authority: addressAuthority{&authority.DynamicAuthority{
		RESTConfig:      o.RESTConfig,
		SecretNamespace: o.Namespace,
		SecretName:      o.SecretName,
		SecretLabels:    map[string]string{"app.kubernetes.io/managed-by": "kyklos"},
		CommonName:      caCommonName,
		CADuration:      o.CADuration,
		LeafDuration:    o.LeafDuration,
	}}}
	s.source = &cmtls.DynamicSource{DNSNames: o.DNSNames, RetryInterval: issueRetry, Authority: s.authority}
	s.publisher = newPublisher(secret, targets, o, func() {
		s.reissueFuture(s.clock.Now())
		s.served()
	})
	s.gate = &gate{newest: s.newest, published: targets.published, pace: o.pace()}
	return s, nil
}

// Start implements manager.Runnable: it issues, publishes and renews until ctx ends. It must be called once; see
// WebhookServer for when.
func (s *SelfManaged) Start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.source.Start(logr.NewContext(ctx, s.options.Log)) })
	group.Go(func() error { return s.publisher.run(ctx) })
	return group.Wait()
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *SelfManaged) NeedLeaderElection() bool { return false }

// TLSOpt makes a server present the leaf that is due at each handshake.
func (s *SelfManaged) TLSOpt(config *tls.Config) {
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if leaf := s.served(); leaf != nil {
			return leaf, nil
		}
		return nil, cmtls.ErrNotAvailable
	}
}

// Ready implements healthz.Checker. The error lists everything that is missing.
func (s *SelfManaged) Ready(*http.Request) error {
	leaf := s.served()
	if leaf == nil {
		return fmt.Errorf("no serving certificate yet: waiting for the CA in Secret %s/%s", s.options.Namespace, s.options.SecretName)
	}
	return errors.Join(s.publisher.targets.missing(leaf, s.clock.Now())...)
}

// reissueFuture requests another leaf if the newest one has a NotBefore in the future.
func (s *SelfManaged) reissueFuture(now time.Time) {
	if newest := s.newest(); newest != nil && isAhead(newest.Leaf, now) {
		s.options.Log.Info("Serving certificate has a future NotBefore; reissuing", "notBefore", newest.Leaf.NotBefore.UTC())
		s.authority.reissue()
	}
}

func (s *SelfManaged) served() *tls.Certificate { return s.gate.serve(s.clock.Now()) }

func (s *SelfManaged) newest() *tls.Certificate {
	leaf, err := s.source.GetCertificate(nil)
	if err != nil {
		return nil // before the first one is issued
	}
	return leaf
}
