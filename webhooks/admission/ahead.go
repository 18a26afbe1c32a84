package admission

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

const (
	// aheadFor is how long the answer to a question that was asked ahead is used: the time between the two webhooks of one
	// request.
	aheadFor = time.Second
	// maxAhead limits how many are kept: anybody on the network may call the webhook.
	maxAhead = 256
)

// reviewsAhead are the reviews that the defaulting webhook has asked for, because the validating webhook of the same request
// needs them some milliseconds later (A10, ADR 34). Each answer is used once.
type reviewsAhead struct {
	clock clock.PassiveClock

	mu    sync.Mutex
	asked map[string]*reviewAhead
}

type reviewAhead struct {
	at      time.Time
	done    chan struct{} // closed when the rest is set
	allowed bool
	err     error
}

func newReviewsAhead(clock clock.PassiveClock) *reviewsAhead {
	return &reviewsAhead{clock: clock, asked: map[string]*reviewAhead{}}
}

// ask asks in the background. Without room it does not: then the validating webhook asks.
func (a *reviewsAhead) ask(ctx context.Context, reviews client.Writer, review *authorizationv1.LocalSubjectAccessReview) {
	key := keyOf(review)
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, r := range a.asked {
		if !a.isFresh(r) {
			delete(a.asked, key)
		}
	}
	if len(a.asked) >= maxAhead {
		return
	}
	r := &reviewAhead{at: a.clock.Now(), done: make(chan struct{})}
	a.asked[key] = r
	go func() {
		defer close(r.done)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gatherTimeout)
		defer cancel()
		r.err = reviews.Create(ctx, review)
		r.allowed = review.Status.Allowed
	}()
}

// take returns the answer to a question that was asked ahead; false if there is none.
func (a *reviewsAhead) take(ctx context.Context, review *authorizationv1.LocalSubjectAccessReview) (allowed, ok bool) {
	if a == nil {
		return false, false
	}
	key := keyOf(review)
	a.mu.Lock()
	r := a.asked[key]
	delete(a.asked, key)
	a.mu.Unlock()
	if r == nil || !a.isFresh(r) {
		return false, false
	}
	select {
	case <-r.done:
		return r.allowed, r.err == nil
	case <-ctx.Done():
		return false, false
	}
}

// isFresh also says no after the clock was set back.
func (a *reviewsAhead) isFresh(r *reviewAhead) bool {
	age := a.clock.Since(r.at)
	return age >= 0 && age <= aheadFor
}

// keyOf is all that the answer depends on: the user, its groups, and the right.
func keyOf(review *authorizationv1.LocalSubjectAccessReview) string {
	key, err := json.Marshal(review.Spec)
	if err != nil {
		panic(err) // impossible: it has texts only
	}
	return review.Namespace + " " + string(key)
}

// defaulter is the defaulting webhook, which asks ahead what the validating webhook will ask.
func (r factReader) defaulter() *admission.Webhook {
	defaults := defaulter(v1beta1.GroupKind)
	return &admission.Webhook{Handler: admission.HandlerFunc(func(ctx context.Context, req admission.Request) admission.Response {
		r.askAhead(ctx, req)
		return defaults.Handler.Handle(ctx, req)
	})}
}

// askAhead asks for the right that a schedule for the target of the request needs first. Kinds that are not known without a
// request are left to the validating webhook.
func (r factReader) askAhead(ctx context.Context, req admission.Request) {
	served := len(r.namespaces) == 0 || slices.Contains(r.namespaces, req.Namespace)
	if r.ahead == nil || !r.checkRequester || !served || req.UserInfo.Username == "" {
		return
	}
	var object struct {
		Spec struct {
			TargetRef v1beta1.TargetRef `json:"targetRef"`
		} `json:"spec"`
	}
	if json.Unmarshal(req.Object.Raw, &object) != nil {
		return // the schema refuses it
	}
	kind, known := targetkind.BuiltIn(object.Spec.TargetRef)
	if !known {
		return
	}
	who := requester{reviews: r.reviews, user: req.UserInfo, namespace: req.Namespace}
	r.ahead.ask(ctx, r.reviews, who.review(kind.Scaling()[0], object.Spec.TargetRef.Name))
}
