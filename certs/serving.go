package certs

import (
	"context"
	"crypto/tls"
	"net/http"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// Serving is where a webhook server gets its certificate from.
type Serving interface {
	// Start works until ctx ends. Every replica serves, so no leader is elected.
	manager.Runnable
	manager.LeaderElectionRunnable

	// TLSOpt belongs into webhook.Options.TLSOpts.
	TLSOpt(*tls.Config)

	// Ready is a healthz.Checker: nil once the API server can call with success.
	Ready(*http.Request) error
}

// WebhookServer returns inner with the certificates started beside it. A manager
// starts an ordinary Runnable after its caches are filled; objects stored in
// another version fill no cache before the conversion webhook can serve. So give
// the manager this server instead of adding the certificates to it. (It starts
// its webhook server only after somebody has asked it GetWebhookServer.)
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
