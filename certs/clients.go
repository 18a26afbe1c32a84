package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/time/rate"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// Clients lets requests pass whose client has a certificate of a CA. The API server has one for a webhook if its
// AdmissionConfiguration names one.
type Clients struct {
	ca       *dynamiccertificates.DynamicFileCAContent
	verifier authenticator.Request
	log      logr.Logger
	logged   rate.Sometimes
}

// NewClients reads the CA from a file, which others may replace later. names are the common names that a certificate
// may have.
func NewClients(file string, names []string, log logr.Logger) (*Clients, error) {
	ca, err := dynamiccertificates.NewDynamicCAContentFromFile("webhook-client-ca", file)
	if err != nil {
		return nil, fmt.Errorf("read the CA of the webhooks' clients: %w", err)
	}
	anybody := authenticator.RequestFunc(func(*http.Request) (*authenticator.Response, bool, error) {
		return &authenticator.Response{}, true, nil
	})
	return &Clients{
		ca:       ca,
		verifier: x509.NewDynamicCAVerifier(ca.VerifyOptions, anybody, x509.StaticStringSlice(names)),
		log:      log,
		logged:   rate.Sometimes{Interval: time.Minute},
	}, nil
}

// Start implements manager.Runnable: it follows the file until ctx ends.
func (c *Clients) Start(ctx context.Context) error {
	c.ca.Run(ctx, 1)
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (c *Clients) NeedLeaderElection() bool { return false }

// TLSOpt makes a server ask for a certificate. Handshakes without one succeed: the API server has none for the
// conversion webhook.
func (c *Clients) TLSOpt(config *tls.Config) { config.ClientAuth = tls.RequestClientCert }

// Require answers 401 to all other clients.
func (c *Clients) Require(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, ok, err := c.verifier.AuthenticateRequest(r)
		if !ok {
			if err == nil {
				err = errors.New("none was presented")
			}
			// An API server that is not configured for it goes on without the webhook, so somebody must hear of it.
			c.logged.Do(func() {
				c.log.Error(err, "Refused an admission review: the client has no accepted certificate (--webhook-client-ca-file)",
					"client", r.RemoteAddr, "path", r.URL.Path)
			})
			http.Error(w, "an accepted client certificate is required", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
