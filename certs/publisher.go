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

// fieldManager owns the caBundle fields in managedFields, where GitOps tools
// can be told to leave them alone.
const fieldManager = "kyklos-certs"

// publisher keeps the CA in the caBundle of every target.
type publisher struct {
	secret  *object
	targets targets
	clock   clock.PassiveClock
	log     logr.Logger
	queue   workqueue.TypedRateLimitingInterface[*object]
	// changed is called after each look at a watched object.
	changed func()
	// takenBack is when a CA was last taken back; only the queue's one worker looks at it.
	takenBack time.Time

	mu sync.Mutex
	// own are the CAs seen in the Secret that have not expired. Those before the
	// current one still back leaves that are being served.
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
		p.learn(ctx, p.clock.Now())
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
func (p *publisher) learn(ctx context.Context, now time.Time) {
	secret, ok := p.secret.get().(*corev1.Secret)
	if !ok {
		return // The authority is about to create it.
	}
	found := parseBundle(secret.Data[corev1.TLSCertKey])
	if len(found) == 0 || !found[0].IsCA {
		return // The authority is about to replace it.
	}
	if isAhead(found[0], now) {
		p.takeBack(ctx, secret, now)
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

// publish appends the CA to the target's bundles and prunes them, with one patch
// or none. A conflict is no error: the watch brings what was written instead.
func (p *publisher) publish(ctx context.Context, target *object, now time.Time) error {
	obj, ok := target.get().(metav1.Object)
	if !ok {
		return nil // It does not exist yet; its creation calls again.
	}
	p.mu.Lock()
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
