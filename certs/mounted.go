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

// readInterval is how often the files are read. File system watches run out on busy nodes, need the folder to exist,
// and see partial changes; and a new certificate waits for its pace anyway.
const readInterval = time.Second

// MountedOptions configure serving certificates from files.
type MountedOptions struct {
	// RESTConfig reaches the API server. Required if there are Callers.
	RESTConfig *rest.Config

	// Dir is the folder with tls.crt, tls.key and optionally ca.crt, such as a mounted Secret of cert-manager. It may
	// be created later. Required.
	Dir string

	// DNSNames are the names the API server calls the webhooks by, as in Options. A certificate must be valid for one
	// of them. At least one.
	DNSNames []string

	// Callers must trust a certificate before it is served. Their caBundles are only read; may be empty.
	Callers

	// Pace is how long a renewed certificate must have been trusted before it is served. Default one minute.
	Pace time.Duration

	// Clock defaults to the wall clock.
	Clock clock.PassiveClock

	// Log defaults to none.
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
	invalid := func(format string, args ...any) { errs = append(errs, fmt.Errorf("certs: "+format, args...)) }
	if o.RESTConfig == nil && o.count() > 0 {
		invalid("RESTConfig is required to reach the API server")
	}
	if o.Dir == "" {
		invalid("Dir is required: the folder with %s and %s", corev1.TLSCertKey, corev1.TLSPrivateKeyKey)
	}
	if len(o.DNSNames) == 0 {
		invalid("DNSNames is required: the names the API server calls the webhooks by, such as <service>.<namespace>.svc")
	}
	if o.Pace < 0 {
		invalid("Pace is %s, must be above 0", o.Pace)
	}
	return o, errors.Join(errs...)
}

// Mounted serves a certificate from files that others renew. The last good one is kept while the files are invalid, and
// until all callers trust a new one.
type Mounted struct {
	options MountedOptions
	targets targets
	gate    *gate

	mu       sync.Mutex
	last     files            // the last that were read without an error
	parsed   *tls.Certificate // from last; nil if invalid
	parseErr error            // why they are invalid
	good     *tls.Certificate // the newest that could be served
	problem  error            // with the files now
	logger   statusLogger
}

var _ Serving = &Mounted{}

// NewMounted prepares certificates from files. It reads nothing yet; an error names the invalid option.
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

// Start implements manager.Runnable: it follows the files and the callers until ctx ends. Missing or invalid files are
// not an error: they may be valid soon, and scaling does not need them.
func (m *Mounted) Start(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		wait.UntilWithContext(ctx, func(context.Context) { m.refresh() }, readInterval)
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

// Ready implements healthz.Checker. The error lists everything that is missing. Invalid files do not matter while the
// previous certificate is accepted.
func (m *Mounted) Ready(*http.Request) error {
	now := m.options.Clock.Now()
	pair := m.served()
	m.mu.Lock()
	problem := m.problem
	m.mu.Unlock()
	switch {
	case pair == nil && problem == nil:
		return fmt.Errorf("the files in %s have not been read yet", m.options.Dir)
	case pair == nil:
		return problem
	}
	err := errors.Join(append(m.targets.missing(pair, now), notValidAt(pair.Leaf, "the served certificate", now))...)
	if err != nil {
		return errors.Join(err, problem)
	}
	return nil
}

func (m *Mounted) served() *tls.Certificate { return m.gate.serve(m.options.Clock.Now()) }

func (m *Mounted) newest() *tls.Certificate {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.good
}

// acceptable reports whether the API server accepts pair at every endpoint.
func (m *Mounted) acceptable(pair *tls.Certificate, now time.Time) bool {
	return m.targets.every(func(e endpoint) bool { return e.accepts(pair, now) == nil })
}

// refresh reads the files and updates what is served, metrics and log.
func (m *Mounted) refresh() {
	now := m.options.Clock.Now()
	m.read(now)
	pair := m.served()
	m.mu.Lock()
	defer m.mu.Unlock()
	metrics.RecordWebhookCertificateFiles(m.problem == nil)
	if pair != nil {
		m.recordCA(pair, now)
	}
	m.logger.log(m.options.Log, pair, m.good, m.problem, now)
}

// recordCA publishes when the trust in pair ends: at the first caller, or without callers, according to ca.crt.
func (m *Mounted) recordCA(pair *tls.Certificate, now time.Time) {
	var until time.Time
	consider := func(bundle []byte) {
		if end := trustedUntil(pair, parseBundle(bundle), now); until.IsZero() || end.Before(until) {
			until = end
		}
	}
	if m.targets.every(func(e endpoint) bool { consider(e.bundle); return true }); until.IsZero() {
		consider(m.last.ca)
	}
	if !until.IsZero() {
		metrics.RecordWebhookCAExpiry(until)
	}
}

// read reads the files and keeps a pair that can be served.
func (m *Mounted) read(now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, err := readFiles(m.options.Dir)
	if m.problem = err; err != nil {
		return
	}
	if m.parsed == nil || !found.equal(m.last) {
		m.last = found
		m.parsed, m.parseErr = found.pair(m.options.Dir)
	}
	if m.problem = m.parseErr; m.problem == nil {
		m.problem = unusable(m.parsed.Leaf, filepath.Join(m.options.Dir, corev1.TLSCertKey), m.options.DNSNames, now)
	}
	if m.problem == nil {
		m.good = m.parsed
	}
}
