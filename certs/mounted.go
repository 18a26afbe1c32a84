package certs

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	cmtls "github.com/cert-manager/cert-manager/pkg/server/tls"
	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"kyklos.io/kyklos/internal/metrics"
)

// lookInterval is how often the files are read. It is no watch of the file
// system: those run out on busy nodes, need the folder to exist, and see half of
// a change; a new certificate waits for its pace anyway.
const lookInterval = time.Second

// MountedOptions configure serving certificates from files.
type MountedOptions struct {
	// RESTConfig reaches the API server. Required if there are Callers.
	RESTConfig *rest.Config

	// Dir is the folder with tls.crt, tls.key and, if wanted, ca.crt, as a Secret
	// of cert-manager mounts them. It may come into being later. Required.
	Dir string

	// DNSNames are the names the API server calls the webhooks by, as in Options.
	// A certificate must bear one of them. At least one.
	DNSNames []string

	// Callers must trust a certificate before it is served. Somebody else writes
	// their caBundles; they are only read. None: nothing is looked at.
	Callers

	// Pace is how long a renewed certificate must have been trusted before it is
	// served. Default a minute.
	Pace time.Duration

	// Clock decides what has expired. Default the wall clock.
	Clock clock.PassiveClock

	// Log receives what is served and what is wrong with the files. The default
	// says nothing.
	Log logr.Logger
}

func (o MountedOptions) withDefaults() (MountedOptions, error) {
	if o.Pace == 0 {
		o.Pace = maxPace
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf("certs: "+format, args...)) }
	if o.RESTConfig == nil && o.count() > 0 {
		refuse("RESTConfig is missing: it says how to reach the API server")
	}
	if o.Dir == "" {
		refuse("Dir is empty: give the folder with %s and %s", corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	if len(o.DNSNames) == 0 {
		refuse("DNSNames is empty: give the names the API server calls the webhooks by, such as <service>.<namespace>.svc")
	}
	if o.Pace < 0 {
		refuse("Pace is %s, must be above 0", o.Pace)
	}
	return o, errors.Join(errs...)
}

// Mounted serves a certificate that somebody else renews in files. The last good
// one is kept while the files are bad, and until all callers trust a new one.
type Mounted struct {
	options MountedOptions
	targets targets
	gate    *gate

	mu      sync.Mutex
	last    files            // as read last without an error
	parsed  *tls.Certificate // of last; nil if they are no pair
	broken  error            // why they are none
	good    *tls.Certificate // the newest that could be served
	trouble error            // with the files now
	told    telling
}

var _ Serving = &Mounted{}

// NewMounted prepares certificates from files. It reads nothing yet; an error
// names the option that is wrong.
func NewMounted(options MountedOptions) (*Mounted, error) {
	o, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	all, err := newTargets(o.RESTConfig, o.Callers, o.Pace)
	if err != nil {
		return nil, fmt.Errorf("certs: RESTConfig: %w", err)
	}
	m := &Mounted{options: o, targets: all}
	m.gate = &gate{newest: m.newest, published: m.acceptable, pace: o.Pace}
	return m, nil
}

// Start implements manager.Runnable: it follows the files and the callers until
// ctx ends. Files that are missing or bad are no error: they may be right soon,
// and scaling needs none.
func (m *Mounted) Start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		wait.UntilWithContext(ctx, func(context.Context) { m.look() }, lookInterval)
		return nil
	})
	group.Go(func() error { return m.targets.run(ctx, func(*object) { m.served() }) })
	return group.Wait()
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (m *Mounted) NeedLeaderElection() bool { return false }

// TLSOpt makes a server present the leaf that is due at each handshake.
func (m *Mounted) TLSOpt(config *tls.Config) {
	config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		if pair := m.served(); pair != nil {
			return pair, nil
		}
		return nil, cmtls.ErrNotAvailable
	}
}

// Ready implements healthz.Checker. The error lists all that is missing. Bad
// files are no reason while the certificate before them does.
func (m *Mounted) Ready(*http.Request) error {
	now := m.options.Clock.Now()
	pair := m.served()
	m.mu.Lock()
	trouble := m.trouble
	m.mu.Unlock()
	switch {
	case pair == nil && trouble == nil:
		return fmt.Errorf("the files in %s have not been read yet", m.options.Dir)
	case pair == nil:
		return trouble
	}
	err := errors.Join(append(m.targets.missing(pair, now), outdated(pair.Leaf, "the served certificate", now))...)
	if err != nil {
		return errors.Join(err, trouble)
	}
	return nil
}

func (m *Mounted) served() *tls.Certificate { return m.gate.serve(m.options.Clock.Now()) }

func (m *Mounted) newest() *tls.Certificate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.good
}

// acceptable says whether the API server can call with success at each endpoint.
func (m *Mounted) acceptable(pair *tls.Certificate, now time.Time) bool {
	return m.targets.every(func(e endpoint) bool { return e.accepts(pair, now) == nil })
}

// look takes over what the files say now.
func (m *Mounted) look() {
	now := m.options.Clock.Now()
	m.take(now)
	pair := m.served()
	m.mu.Lock()
	defer m.mu.Unlock()
	metrics.RecordWebhookCertificateFiles(m.trouble == nil)
	if pair != nil {
		m.recordCA(pair, now)
	}
	m.told.tell(m.options.Log, pair, m.good, m.trouble, now)
}

// recordCA publishes when the trust in pair ends: the first caller to lose it,
// or, where no callers are looked at, what ca.crt says.
func (m *Mounted) recordCA(pair *tls.Certificate, now time.Time) {
	var until time.Time
	learn := func(bundle []byte) {
		if end := trustedUntil(pair, parseBundle(bundle), now); until.IsZero() || end.Before(until) {
			until = end
		}
	}
	if m.targets.every(func(e endpoint) bool { learn(e.bundle); return true }); until.IsZero() {
		learn(m.last.ca)
	}
	if !until.IsZero() {
		metrics.RecordWebhookCAExpiry(until)
	}
}

// take reads the files and keeps a pair that can be served.
func (m *Mounted) take(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	read, err := readFiles(m.options.Dir)
	if m.trouble = err; err != nil {
		return
	}
	if m.parsed == nil || !read.equal(m.last) {
		m.last = read
		m.parsed, m.broken = read.pair(m.options.Dir)
	}
	if m.trouble = m.broken; m.trouble == nil {
		m.trouble = unfit(m.parsed.Leaf, filepath.Join(m.options.Dir, corev1.TLSCertKey), m.options.DNSNames, now)
	}
	if m.trouble == nil {
		m.good = m.parsed
	}
}
