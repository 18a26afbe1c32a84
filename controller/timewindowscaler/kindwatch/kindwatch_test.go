package kindwatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/targetkind"
)

var (
	rollouts = targetkind.Kind{
		GroupVersionKind: schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"}, Resource: "rollouts",
	}
	errRefused = errors.New("refused")
)

// cached simulates a synced cache.
type cached struct{ client.Reader }

// refusals answers every access review with no.
type refusals struct {
	client.Writer
	asked int
}

func (r *refusals) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	obj.(*authorizationv1.SelfSubjectAccessReview).Status.Allowed = false
	r.asked++
	return nil
}

// A revoked permission ends the watch, which is reported once; what was listed is no longer read. It is
// reviewed again after a while, when a scaler needs the kind.
func TestARevokedPermission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notified, asked := 0, &refusals{}
		clock := testingclock.NewFakePassiveClock(time.Date(2025, 1, 27, 14, 0, 0, 0, time.UTC))
		ctx, stop := context.WithCancel(t.Context())
		k := &kindWatch{kind: rollouts, stop: stop, reader: cached{}}
		w := &Watches{
			Reviews: asked, Clock: clock, Log: logr.Discard(), Known: func(schema.GroupVersionKind) { notified++ },
			ctx: t.Context(), kinds: map[schema.GroupVersionKind]*kindWatch{rollouts.GroupVersionKind: k},
		}
		forbidden := func(what string) {
			t.Helper()
			var err *targetkind.ForbiddenError
			if reader, got := w.Objects(rollouts); !errors.As(got, &err) || reader != nil {
				t.Errorf("%s: %v, %v", what, reader, got)
			}
			synctest.Wait()
			if _, watched := w.Kind(rollouts.GroupVersionKind); watched {
				t.Errorf("%s: still watched", what)
			}
		}
		for range 2 { // one for each namespace that is watched
			w.end(ctx, k, &targetkind.ForbiddenError{Kind: rollouts, Err: errRefused})
		}
		if notified != 1 || ctx.Err() == nil {
			t.Errorf("notified %d times, watch ended: %v", notified, ctx.Err())
		}
		forbidden("at once")
		if asked.asked != 0 {
			t.Errorf("asked %d times within the interval", asked.asked)
		}
		for range 2 {
			clock.SetTime(clock.Now().Add(RetryInterval))
			forbidden("later")
		}
		if asked.asked != 2 || notified != 1 {
			t.Errorf("asked %d times, want 2, and notified %d times, want 1", asked.asked, notified)
		}
		again, end := context.WithCancel(t.Context())
		defer end()
		w.filled(again, k, cached{})
		if reader, err := w.Objects(rollouts); err != nil || reader == nil || notified != 2 {
			t.Errorf("given back: %v, %v, notified %d times", reader, err, notified)
		}
	})
}

// A missing permission or kind ends a watch. A client that is not recognised for a moment, as while
// credentials rotate, does not lack a permission: the cache retries, and its content stays valid.
func TestWhatEndsAWatch(t *testing.T) {
	resource := schema.GroupResource{Group: "argoproj.io", Resource: "rollouts"}
	type verdict struct{ Ends, Forbidden, Fails bool }
	for name, tc := range map[string]struct {
		err  error
		want verdict
	}{
		"forbidden":       {apierrors.NewForbidden(resource, "", errors.New("no")), verdict{Ends: true, Forbidden: true}},
		"not found":       {apierrors.NewNotFound(resource, ""), verdict{Ends: true}},
		"not supported":   {apierrors.NewMethodNotSupported(resource, "watch"), verdict{Ends: true}},
		"not recognised":  {apierrors.NewUnauthorized("token expired"), verdict{Fails: true}},
		"away":            {apierrors.NewServiceUnavailable("away"), verdict{Fails: true}},
		"an expired list": {apierrors.NewResourceExpired("too old"), verdict{Fails: true}},
	} {
		var got verdict
		options := (&Watches{}).cacheOptions(rollouts, func(err error) {
			var forbidden *targetkind.ForbiddenError
			got = verdict{Ends: true, Forbidden: errors.As(err, &forbidden)}
		}, func(error) { got = verdict{Fails: true} }, func() {})
		options.DefaultWatchErrorHandler(t.Context(), nil, tc.err)
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}
