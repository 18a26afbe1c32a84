package certs

import (
	"context"
	"crypto/tls"
	"net/http"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Serving provides a webhook server's certificate.
type Serving interface {
	// Start runs until ctx ends, on every replica.
	manager.Runnable
	manager.LeaderElectionRunnable

	// TLSOpt is for webhook.Options.TLSOpts.
	TLSOpt(*tls.Config)

	// Ready is a healthz.Checker: nil when calls from the API server succeed.
	Ready(*http.Request) error

	// Converts is a healthz.Checker: nil unless the API server serves several versions of a caller and does not call
	// the conversion webhook for them.
	Converts(*http.Request) error

	// Admits is a healthz.Checker: nil unless a webhook configuration is missing or has no webhooks.
	Admits(*http.Request) error
}

// WebhookServer returns inner with the certificates started together with it. A manager starts ordinary Runnables after
// its caches are filled, and objects stored in another version fill no cache before the conversion webhook serves. So
// the certificates must be part of this server. (A manager starts its webhook server only after a call of
// GetWebhookServer.)
func WebhookServer(inner webhook.Server, serving Serving) webhook.Server {
	return &server{Server: inner, serving: serving}
}

type server struct {
	webhook.Server
	serving Serving
}

// Start implements manager.Runnable.
func (s *server) Start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.serving.Start(ctx) })
	group.Go(func() error { return s.Server.Start(ctx) })
	return group.Wait()
}
