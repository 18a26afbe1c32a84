package certs

import (
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
)

// DefaultCADuration and DefaultLeafDuration are cert-manager's own for its webhook.
const (
	DefaultCADuration   = 365 * 24 * time.Hour
	DefaultLeafDuration = 7 * 24 * time.Hour
)

const (
	// MinLeafDuration is the least LeafDuration: in the last third of it a new CA
	// must be published and trusted.
	MinLeafDuration = 6 * time.Second
	// MinCADuration is the least CADuration: the authority looks at the CA every ten seconds and renews
	// it in the last third of its life, which must leave time to publish.
	MinCADuration = 45 * time.Second
	// maxPace is enough for a watch that lags and for clocks that disagree.
	maxPace = time.Minute
)

// Options configure self-managed serving certificates.
type Options struct {
	// RESTConfig reaches the API server. Required.
	RESTConfig *rest.Config

	// Namespace and SecretName say where the CA is kept. The replicas share the
	// Secret and whoever comes first creates it. Required.
	Namespace, SecretName string

	// DNSNames are the names the API server calls the webhooks by: host names,
	// such as kyklos-webhook.kyklos-system.svc, and IP addresses, for a webhook
	// registered with a URL. At least one.
	DNSNames []string

	// CADuration is how long a CA is valid; a new one is made when two thirds
	// have passed. Default a year, at least 45 s and three times LeafDuration.
	CADuration time.Duration

	// LeafDuration is how long a serving certificate is valid; it is renewed when
	// two thirds have passed. A renewed leaf is served after a pace of a third of
	// this, at most a minute, in which it was trusted everywhere; sooner when the
	// one before it has less left than that. Default a week, at least 6 s.
	LeafDuration time.Duration

	// Callers get the CA in their every caBundle. At least one.
	Callers

	// Clock decides what has expired. Default the wall clock.
	Clock clock.PassiveClock

	// Log receives what is issued, published and refused. The default says nothing.
	Log logr.Logger
}

// withDefaults fills what may be left out and refuses what cannot work.
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
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf("certs: "+format, args...)) }
	if o.RESTConfig == nil {
		refuse("RESTConfig is missing: it says how to reach the API server")
	}
	if o.Namespace == "" || o.SecretName == "" {
		refuse("Namespace %q and SecretName %q must both name where the CA is kept", o.Namespace, o.SecretName)
	}
	if len(o.DNSNames) == 0 {
		refuse("DNSNames is empty: give the names the API server calls the webhooks by, such as <service>.<namespace>.svc")
	}
	if o.count() == 0 {
		refuse("no webhook configuration and no CustomResourceDefinition is named: there is nothing to publish the CA in")
	}
	if o.LeafDuration < MinLeafDuration {
		refuse("LeafDuration is %s, must be at least %s", o.LeafDuration, MinLeafDuration)
	}
	if o.CADuration < MinCADuration || o.CADuration < 3*o.LeafDuration {
		refuse("CADuration is %s, must be at least %s and three times LeafDuration (%s)", o.CADuration, MinCADuration, o.LeafDuration)
	}
	return errs
}

// pace is the time a leaf must be trusted before it is served, and the period
// in which expiry is looked at.
func (o Options) pace() time.Duration {
	return min(maxPace, o.LeafDuration/3)
}
