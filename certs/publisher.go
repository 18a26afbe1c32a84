package certs

import (
	"context"
	"crypto/x509"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"kyklos.io/kyklos/internal/metrics"
)

// fieldManager owns the caBundle fields in managedFields; GitOps tools can be configured to ignore them.
const fieldManager = "kyklos-certs"

// replaceInterval is the minimum time between two replacements of a CA: a replica whose clock stays months ahead issues
// another one each time, and all of them are published until they expire.
const replaceInterval = time.Hour

// publisher keeps the CA in the caBundle of every target.
type publisher struct {
	secret  *object
	targets targets
	clock   clock.PassiveClock
	log     logr.Logger
	queue   workqueue.TypedRateLimitingInterface[*object]
	// changed is called after each processed object.
	changed func()
	// replaced is when a CA was last replaced. Only the queue's one worker uses it.
	replaced time.Time

	mu sync.Mutex
	// own are the CAs seen in the Secret that have not expired. Earlier ones still back served leaves.
	own []*x509.Certificate
}

func newPublisher(secret *object, targets targets, o Options, changed func()) *publisher {
	return &publisher{
		secret: secret, targets: targets, clock: o.Clock, log: o.Log, changed: changed,
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.NewTypedItemExponentialFailureRateLimiter[*object](200*time.Millisecond, 30*time.Second)),
	}
}

// run watches and publishes until ctx ends.
func (p *publisher) run(ctx context.Context) error {
	var wg sync.WaitGroup
	defer wg.Wait()
	defer p.queue.ShutDown()

	wg.Go(func() {
		for p.next(ctx) {
		}
	})
	return append(targets{p.secret}, p.targets...).run(ctx, func(o *object) { p.queue.Add(o) })
}

func (p *publisher) next(ctx context.Context) bool {
	o, shutdown := p.queue.Get()
	if shutdown {
		return false
	}
	defer p.queue.Done(o)
	defer p.changed()

	if o == p.secret {
		p.readCA(ctx, p.clock.Now())
		return true
	}
	if err := p.publish(ctx, o, p.clock.Now()); err != nil {
		p.log.Error(err, "Cannot publish the webhook CA; retrying", "kind", o.kind, "name", o.name)
		p.queue.AddRateLimited(o)
		return true
	}
	p.queue.Forget(o)
	return true
}

// readCA reads the CA in the Secret and queues its publication if it is new.
func (p *publisher) readCA(ctx context.Context, now time.Time) {
	secret, ok := p.secret.get().(*corev1.Secret)
	if !ok {
		return // the authority is about to create it
	}
	found := parseBundle(secret.Data[corev1.TLSCertKey])
	if len(found) == 0 || !found[0].IsCA {
		return // the authority is about to replace it
	}
	if isAhead(found[0], now) {
		p.replaceCA(ctx, secret, now)
		return
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

// replaceCA empties the Secret of a CA whose NotBefore is in the future, so that the authority issues another one.
func (p *publisher) replaceCA(ctx context.Context, secret *corev1.Secret, now time.Time) {
	if age := now.Sub(p.replaced); age >= 0 && age < replaceInterval {
		return // the next resync tries again
	}
	p.replaced = now
	secret = secret.DeepCopy()
	secret.Data[corev1.TLSCertKey] = []byte{}
	err := p.secret.api.Put().Namespace(secret.Namespace).Resource(p.secret.resource).Name(secret.Name).
		Param("fieldManager", fieldManager).Body(secret).Do(ctx).Error()
	switch {
	case err == nil:
		p.log.Info("Webhook CA has a future NotBefore; replacing it", "secret", secret.Name)
	case !isStale(err):
		p.replaced = time.Time{}
		p.log.Error(err, "Cannot replace the webhook CA, whose NotBefore is in the future; retrying", "secret", secret.Name)
	}
}

// isStale reports that a write needs no retry: the watch brings the current object, or the manager is stopping.
func isStale(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || errors.Is(err, context.Canceled)
}

// publish appends the CA to the target's bundles and removes expired ones, with one patch or none.
func (p *publisher) publish(ctx context.Context, target *object, now time.Time) error {
	obj, ok := target.get().(metav1.Object)
	if !ok {
		return nil // its creation queues it again
	}
	p.mu.Lock()
	own := unexpired(p.own, now)
	p.mu.Unlock()
	if len(own) == 0 {
		return nil // the Secret has not been read yet
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
	if isStale(err) {
		return nil
	}
	if err == nil {
		p.log.Info("Published the webhook CA", "kind", target.kind, "name", target.name, "bundles", len(set))
	}
	return err
}
