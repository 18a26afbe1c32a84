package certs

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"kyklos.io/kyklos/internal/metrics"
)

// Admits implements Serving.
func (s *SelfManaged) Admits(*http.Request) error { return s.publisher.targets.admitted() }

// Admits implements Serving.
func (m *Mounted) Admits(*http.Request) error { return m.targets.admitted() }

// admitted returns why the API server would not call an admission webhook.
func (all targets) admitted() error {
	var errs []error
	for _, target := range all {
		errs = append(errs, target.admitted())
	}
	return errors.Join(errs...)
}

// admitted returns an error for a webhook configuration that does not exist, or has no webhooks. One that has not been read
// yet is no reason, and neither is an object of another kind.
func (o *object) admitted() error {
	if !o.configuresWebhooks() || !o.informer.HasSynced() || len(endpointsOf(o.get())) > 0 {
		return nil
	}
	return fmt.Errorf("%s %q is missing or has no webhooks: the API server accepts invalid objects, and writes in older versions that lose fields; apply the manifests of this release again", o.kind, o.name)
}

func (o *object) configuresWebhooks() bool { return strings.HasSuffix(o.kind, "WebhookConfiguration") }

// recordAdmission publishes whether the API server calls the webhooks of a configuration.
func recordAdmission(target *object) {
	if target.configuresWebhooks() {
		metrics.RecordAdmissionDisabled(target.kind, target.name, target.admitted() != nil)
	}
}
