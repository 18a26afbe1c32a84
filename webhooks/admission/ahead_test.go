package admission

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// counting counts the reviews that jane's API server is asked for; those that hold fails are not answered.
type counting struct {
	reviews
	asked *atomic.Int32
	hold  func(n int32) error
}

func (c counting) Create(ctx context.Context, obj client.Object, options ...client.CreateOption) error {
	if err := c.hold(c.asked.Add(1)); err != nil {
		return err
	}
	return c.reviews.Create(ctx, obj, options...)
}

// both are the two webhooks of one manager.
type both struct {
	writer            counting
	clock             *clocktesting.FakePassiveClock
	ahead             *reviewsAhead
	mutates, validate *admission.Webhook
}

func newBoth(t *testing.T, janeLacks ...string) *both {
	b := &both{
		writer: counting{reviews{janeLacks: janeLacks}, &atomic.Int32{}, func(int32) error { return nil }},
		clock:  clocktesting.NewFakePassiveClock(time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)),
	}
	b.ahead = newReviewsAhead(b.clock)
	c := cluster{objects: quiet(t)}
	facts := c.facts(t)
	facts.reviews, facts.ahead = &b.writer, b.ahead
	b.mutates, b.validate = facts.defaulter(), admission.WithValidator(scheme(t), newTimeWindowScalerValidator(facts, b.clock))
	return b
}

// settle waits until what was asked ahead is answered, as a real request does with take.
func (b *both) settle() {
	b.ahead.mu.Lock()
	defer b.ahead.mu.Unlock()
	for _, r := range b.ahead.asked {
		<-r.done
	}
}

// without is the request for a schedule without holidays, which would be asked about as well.
func without(replace ...string) admission.Request {
	plain := strings.Replace(stored, `"holidays":{"mode":"treat-as-closed","sourceRef":{"name":"public-holidays"}},`, "", 1)
	return request(strings.NewReplacer(replace...).Replace(plain), "")
}

// The validating webhook uses the answer that the defaulting webhook has asked for: once, for the same user and target, and
// only for a second.
func TestTheReviewIsAskedAhead(t *testing.T) {
	eve := without()
	eve.UserInfo = authenticationv1.UserInfo{Username: "eve", Groups: jane.Groups, UID: jane.UID, Extra: jane.Extra}
	fewer := without()
	fewer.UserInfo.Groups = jane.Groups[:1]
	for name, tc := range map[string]struct {
		second admission.Request
		after  time.Duration
		times  int // how often it is validated
		asked  int32
	}{
		"the same request":    {without(), 0, 1, 1},
		"twice":               {without(), 0, 2, 2},
		"another user":        {eve, 0, 1, 3}, // who is also asked for the right to patch the whole object
		"fewer groups":        {fewer, 0, 1, 3},
		"another target":      {without(`"name":"web"`, `"name":"web-2"`), 0, 1, 3}, // which is missing: may jane know?
		"a second later":      {without(), aheadFor, 1, 1},
		"more than a second":  {without(), aheadFor + 1, 1, 2},
		"the clock went back": {without(), -1, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBoth(t)
			if response := b.mutates.Handle(t.Context(), without()); !response.Allowed {
				t.Fatal(response.Result)
			}
			b.settle()
			b.clock.SetTime(b.clock.Now().Add(tc.after))
			for range tc.times {
				b.validate.Handle(t.Context(), tc.second)
			}
			if got := b.writer.asked.Load(); got != tc.asked {
				t.Errorf("asked %d times, want %d", got, tc.asked)
			}
		})
	}
}

// What was asked ahead decides as if it had been asked later.
func TestTheAnswerAskedAheadDecides(t *testing.T) {
	for _, lacks := range [][]string{nil, {"patch deployments.apps/scale"}, {"patch deployments.apps/scale", "patch deployments.apps"}} {
		b := newBoth(t, lacks...)
		b.mutates.Handle(t.Context(), without())
		if response := b.validate.Handle(t.Context(), without()); response.Allowed != (len(lacks) < 2) {
			t.Errorf("without %q: %v %v", lacks, response.Allowed, response.Result)
		}
	}
}

// A review that failed is asked again, and one that hangs does not hold the defaulting webhook.
func TestAReviewAheadThatFails(t *testing.T) {
	b := newBoth(t)
	release := make(chan struct{})
	b.writer.hold = func(n int32) error {
		if n > 1 {
			return nil
		}
		<-release
		return errors.New("away")
	}
	b.mutates.Handle(t.Context(), without())
	close(release)
	if response := b.validate.Handle(t.Context(), without()); !response.Allowed || len(response.Warnings) > 0 || b.writer.asked.Load() != 2 {
		t.Errorf("%v %q after %d", response.Allowed, response.Warnings, b.writer.asked.Load())
	}
}

// Invented requests do not fill the memory.
func TestReviewsAheadAreFew(t *testing.T) {
	b := newBoth(t)
	for i := range 3 * maxAhead {
		b.mutates.Handle(t.Context(), without(`"name":"web"`, fmt.Sprintf(`"name":"web-%d"`, i)))
	}
	if got := len(b.ahead.asked); got != maxAhead {
		t.Errorf("%d are kept", got)
	}
	b.clock.SetTime(b.clock.Now().Add(time.Minute))
	b.mutates.Handle(t.Context(), without())
	if got := len(b.ahead.asked); got != 1 {
		t.Errorf("%d are kept a minute later", got)
	}
}

// Where the validating webhook asks nothing, nothing is asked ahead.
func TestNothingIsAskedAheadInVain(t *testing.T) {
	nobody := without()
	nobody.UserInfo = authenticationv1.UserInfo{}
	for name, req := range map[string]admission.Request{
		"nobody": nobody, "another kind": without("Deployment", "Rollout"), "no object": request("[]", ""), "no target": request(`{"spec":{}}`, ""),
	} {
		b := newBoth(t)
		b.mutates.Handle(t.Context(), req)
		if len(b.ahead.asked) > 0 {
			t.Errorf("%s: asked", name)
		}
	}
	facts := cluster{namespaces: []string{"back"}}.facts(t)
	facts.ahead = newReviewsAhead(clocktesting.NewFakePassiveClock(time.Time{}))
	facts.askAhead(t.Context(), without())
	facts.namespaces, facts.checkRequester = nil, false
	facts.askAhead(t.Context(), without())
	if len(facts.ahead.asked) > 0 {
		t.Error("asked where nothing is served, or with the check switched off")
	}
}
