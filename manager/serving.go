package manager

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"kyklos.io/kyklos/certs"
)

// newServing returns nil without webhooks.
func newServing(config *rest.Config, o options) (serving certs.Serving, err error) {
	logger := o.logger().WithName("certs")
	switch {
	case !o.webhooks:
		return nil, nil
	case o.certDir != "":
		serving, err = certs.NewMounted(certs.MountedOptions{
			RESTConfig: config, Dir: o.certDir, DNSNames: o.dnsNames(), Callers: o.callers(), Log: logger,
		})
	default:
		serving, err = certs.NewSelfManaged(certs.Options{
			RESTConfig: config, Namespace: o.ownNamespace(), SecretName: o.certSecret,
			CADuration: o.caDuration, LeafDuration: o.leafDuration, DNSNames: o.dnsNames(), Callers: o.callers(), Log: logger,
		})
	}
	if err != nil {
		return nil, fmt.Errorf("set up the webhook certificates: %w", err)
	}
	return serving, nil
}

// newClients returns nil if every client may call the admission webhooks.
func newClients(o options) (*certs.Clients, error) {
	if !o.webhooks || o.clientCA == "" {
		return nil, nil
	}
	return certs.NewClients(o.clientCA, o.clientNames, o.logger().WithName("certs"))
}

// conversionPath is the webhook that needs no client certificate: API servers cannot present one for conversion, and the
// answer depends on nothing but the request.
const conversionPath = "/convert"

// guardedServer requires a client certificate for all other webhooks.
type guardedServer struct {
	webhook.Server
	clients *certs.Clients
}

// Register implements webhook.Server.
func (g *guardedServer) Register(path string, hook http.Handler) {
	if path != conversionPath {
		hook = g.clients.Require(hook)
	}
	g.Server.Register(path, hook)
}

// newWebhookServer returns the server of the webhooks; clients may be nil.
func (o *options) newWebhookServer(serving certs.Serving, clients *certs.Clients) webhook.Server {
	options := webhook.Options{Host: o.webhookHost, Port: o.webhookPort, TLSOpts: []func(*tls.Config){serving.TLSOpt}}
	if clients == nil {
		return newDrainingServer(certs.WebhookServer(webhook.NewServer(options), serving))
	}
	options.TLSOpts = append(options.TLSOpts, clients.TLSOpt)
	return newDrainingServer(&guardedServer{certs.WebhookServer(webhook.NewServer(options), serving), clients})
}

// callers are the objects that must trust the certificate.
func (o *options) callers() certs.Callers {
	return certs.Callers{
		ValidatingWebhookConfigurations: nonEmpty(o.validatingConfiguration),
		MutatingWebhookConfigurations:   nonEmpty(o.mutatingConfiguration),
		CustomResourceDefinitions:       nonEmpty(o.conversionDefinition),
	}
}

func nonEmpty(name string) []string {
	if name == "" {
		return nil
	}
	return []string{name}
}

// addChecks adds health checks. The manager is alive if it answers, and ready when its caches are filled and, with
// webhooks, the API server trusts its certificate. /readyz/certificate lists what is missing. The Deployment's probe leaves
// the checks admission and conversion out: only in service does a replica convert, and say what it refuses and why.
func addChecks(mgr ctrl.Manager, serving certs.Serving) error {
	checks := map[string]healthz.Checker{"caches": func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("caches are not filled yet")
		}
		return nil
	}}
	if serving != nil {
		checks["certificate"] = serving.Ready
		checks["admission"] = serving.Admits
		checks["conversion"] = serving.Converts
		checks["webhooks"] = servingCheck(mgr.GetWebhookServer().StartedChecker(), serving)
	}
	for name, check := range checks {
		if err := mgr.AddReadyzCheck(name, check); err != nil {
			return fmt.Errorf("add readiness check %s: %w", name, err)
		}
	}
	return mgr.AddHealthzCheck("ping", healthz.Ping)
}

// servingCheck calls the webhook server only when there is a certificate: each failed handshake would add a line to the
// log.
func servingCheck(started healthz.Checker, serving certs.Serving) healthz.Checker {
	return func(req *http.Request) error {
		if serving.Ready(req) != nil {
			return errors.New("see check certificate")
		}
		return started(req)
	}
}
