package certs

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"kyklos.io/kyklos/internal/metrics"
)

// fieldManager owns the caBundle fields in managedFields, where GitOps tools
// can be told to leave them alone.
const fieldManager = "kyklos-certs"

// publisher keeps the CA in the caBundle of every target.
type publisher struct {
	watches
	clock clock.PassiveClock
	log   logr.Logger
	queue workqueue.TypedRateLimitingInterface[*object]
	// changed is called after each look at a watched object.
	changed func()

	mu sync.Mutex
	// own are the CAs seen in the Secret that have not expired. Those before the
	// current one still back leaves that are being served.
	own []*x509.Certificate
	// seen are the targets that existed once; see missing.
	seen map[*object]bool
}

func newPublisher(w watches, o Options, changed func()) *publisher {
	return &publisher{
		watches: w, clock: o.Clock, log: o.Log, changed: changed, seen: map[*object]bool{},
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[*object](200*time.Millisecond, 30*time.Second)),
	}
}

// run watches and publishes until ctx ends.
func (p *publisher) run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer p.queue.ShutDown()

	for _, o := range append([]*object{p.secret}, p.targets...) {
		if err := o.onChange(func() { p.queue.Add(o) }); err != nil {
			return err
		}
		wg.Go(func() { o.informer.RunWithContext(ctx) })
	}
	wg.Go(func() {
		for p.next(ctx) {
		}
	})
	<-ctx.Done()
	return nil
}

func (o *object) onChange(do func()) error {
	_, err := o.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { do() },
		UpdateFunc: func(any, any) { do() },
		DeleteFunc: func(any) { do() },
	})
	return err
}

func (p *publisher) next(ctx context.Context) bool {
	o, shutdown := p.queue.Get()
	if shutdown {
		return false
	}
	defer p.queue.Done(o)
	defer p.changed()

	if o == p.secret {
		p.learn(p.clock.Now())
		return true
	}
	if err := p.publish(ctx, o, p.clock.Now()); err != nil {
		p.log.Error(err, "Cannot publish the webhook CA, will try again", "kind", o.kind, "name", o.name)
		p.queue.AddRateLimited(o)
		return true
	}
	p.queue.Forget(o)
	return true
}

// learn takes over the CA in the Secret and has it published if it is new.
func (p *publisher) learn(now time.Time) {
	secret, ok := p.secret.get().(*corev1.Secret)
	if !ok {
		return // The authority is about to create it.
	}
	found := parseBundle(secret.Data[corev1.TLSCertKey])
	if len(found) == 0 || !found[0].IsCA {
		return // The authority is about to replace it.
	}
	metrics.RecordWebhookCAExpiry(found[0].NotAfter)

	p.mu.Lock()
	isNew := !slices.ContainsFunc(p.own, found[0].Equal)
	p.own = unexpired(append(p.own, found[0]), now)
	p.mu.Unlock()
	if isNew {
		for _, target := range p.targets {
			p.queue.Add(target)
		}
	}
}

// publish appends the CA to the target's bundles and prunes them, with one patch
// or none. A conflict is no error: the watch brings what was written instead.
func (p *publisher) publish(ctx context.Context, target *object, now time.Time) error {
	obj, ok := target.get().(metav1.Object)
	if !ok {
		return nil // It does not exist yet; its creation calls again.
	}
	p.mu.Lock()
	p.seen[target] = true
	own := unexpired(p.own, now)
	p.mu.Unlock()
	if len(own) == 0 {
		return nil // The Secret has not been read yet.
	}

	var set []endpoint
	for _, e := range endpointsOf(obj) {
		if merged, changed := mergeBundle(e.bundle, own, now); changed {
			e.bundle = merged
			set = append(set, e)
		}
	}
	if len(set) == 0 {
		return nil
	}
	patch, err := bundlePatch(obj, set)
	if err != nil {
		return err
	}
	err = target.api.Patch(types.StrategicMergePatchType).Resource(target.resource).Name(target.name).
		Param("fieldManager", fieldManager).Body(patch).Do(ctx).Error()
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.Is(err, context.Canceled) {
		return nil
	}
	if err == nil {
		p.log.Info("Published the webhook CA", "kind", target.kind, "name", target.name, "bundles", len(set))
	}
	return err
}

// published says whether every bundle of every target that exists trusts leaf.
func (p *publisher) published(leaf *x509.Certificate, now time.Time) bool {
	for _, target := range p.targets {
		if !target.informer.HasSynced() {
			return false
		}
		for _, e := range endpointsOf(target.get()) {
			if e.trusts(leaf, now) != nil {
				return false
			}
		}
	}
	return true
}

// missing lists what keeps the API server from calling with success: targets not
// read or not created yet, bundles without the CA, names the leaf does not bear.
// A target that is deleted later is not missed: taking a webhook configuration
// away is how admission is switched off, and must not stop conversion as well.
func (p *publisher) missing(leaf *x509.Certificate, now time.Time) (errs []error) {
	for _, target := range p.targets {
		obj := target.get()
		switch {
		case !target.informer.HasSynced():
			errs = append(errs, fmt.Errorf("%s %q has not been read yet (may Kyklos list and watch it?)", target.kind, target.name))
		case obj == nil && !p.wasSeen(target):
			errs = append(errs, fmt.Errorf("%s %q does not exist yet", target.kind, target.name))
		}
		for _, e := range endpointsOf(obj) {
			if err := errors.Join(e.trusts(leaf, now), leaf.VerifyHostname(e.host)); err != nil {
				errs = append(errs, fmt.Errorf("%s %q, webhook %q: %w", target.kind, target.name, e.name, err))
			}
		}
	}
	return errs
}

func (p *publisher) wasSeen(target *object) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen[target]
}
