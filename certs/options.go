package certs

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// DefaultCADuration and DefaultLeafDuration are those of cert-manager's webhook.
const (
	DefaultCADuration   = 365 * 24 * time.Hour
	DefaultLeafDuration = 7 * 24 * time.Hour
)

const (
	// MinLeafDuration leaves time to publish a new CA in the last third of it.
	MinLeafDuration = 6 * time.Second
	// MinCADuration leaves time to publish: the authority checks the CA every ten seconds and renews it in the last
	// third of its life.
	MinCADuration = 45 * time.Second
	// maxPace allows for slow watches and differing clocks.
	maxPace = time.Minute
)

// Options configure self-managed serving certificates.
type Options struct {
	// RESTConfig reaches the API server. Required.
	RESTConfig *rest.Config

	// Namespace and SecretName name the Secret with the CA. The replicas share it; the first one creates it. Required.
	Namespace, SecretName string

	// DNSNames are the names the API server calls the webhooks by: host names, such as
	// kyklos-webhook.kyklos-system.svc, and IP addresses, for a webhook registered with a URL. At least one.
	DNSNames []string

	// CADuration is how long a CA is valid; it is renewed after two thirds. Default a year, at least 45 s and three
	// times LeafDuration.
	CADuration time.Duration

	// LeafDuration is how long a serving certificate is valid; it is renewed after two thirds. A renewed leaf is served
	// after it was trusted everywhere for a pace of a third of this, at most a minute; sooner if the previous one expires
	// earlier. Default a week, at least 6 s.
	LeafDuration time.Duration

	// Callers get the CA in every caBundle. At least one.
	Callers

	// Clock defaults to the wall clock.
	Clock clock.PassiveClock

	// Log defaults to none.
	Log logr.Logger
}

// withDefaults fills in defaults and validates the options.
func (o Options) withDefaults() (Options, error) {
	if o.CADuration == 0 {
		o.CADuration = DefaultCADuration
	}
	if o.LeafDuration == 0 {
		o.LeafDuration = DefaultLeafDuration
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o, errors.Join(o.invalid()...)
}

func (o Options) invalid() (errs []error) {
	invalid := func(format string, args ...any) { errs = append(errs, fmt.Errorf("certs: "+format, args...)) }
	if o.RESTConfig == nil {
		invalid("RESTConfig is required to reach the API server")
	}
	if o.Namespace == "" || o.SecretName == "" {
		invalid("Namespace %q and SecretName %q are both required: they name the Secret with the CA", o.Namespace, o.SecretName)
	}
	if len(o.DNSNames) == 0 {
		invalid("DNSNames is required: the names the API server calls the webhooks by, such as <service>.<namespace>.svc")
	}
	if o.count() == 0 {
		invalid("Callers is empty: name a webhook configuration or a CustomResourceDefinition to publish the CA in")
	}
	if o.LeafDuration < MinLeafDuration {
		invalid("LeafDuration is %s, must be at least %s", o.LeafDuration, MinLeafDuration)
	}
	if o.CADuration < MinCADuration || o.CADuration < 3*o.LeafDuration {
		invalid("CADuration is %s, must be at least %s and three times LeafDuration (%s)", o.CADuration, MinCADuration, o.LeafDuration)
	}
	return errs
}

// pace is the time a leaf must be trusted before it is served, and the interval at which expiry is checked.
func (o Options) pace() time.Duration {
	return min(maxPace, o.LeafDuration/3)
}
