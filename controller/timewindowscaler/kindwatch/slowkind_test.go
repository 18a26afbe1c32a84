package kindwatch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A kind that hangs costs its first askers their patience, and after that one of them now and then.
func TestAKindThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s slowKinds
		hangs := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		answers := func(context.Context) error { return errRefused } // an error is an answer too
		for _, step := range []struct {
			after     time.Duration
			request   func(context.Context) error
			want      error
			recovered bool
		}{
			{0, answers, errRefused, false},
			{0, hangs, context.DeadlineExceeded, false},
			{time.Second, answers, ErrSlow, false},
			{slowFor, hangs, context.DeadlineExceeded, false}, // one tries
			{time.Second, answers, ErrSlow, false},
			{slowFor, answers, errRefused, true},
			{0, answers, errRefused, false},
		} {
			time.Sleep(step.after)
			recovered, err := s.request(t.Context(), rollouts.GroupVersionKind, time.Now(), step.request)
			if !errors.Is(err, step.want) || recovered != step.recovered {
				t.Errorf("%v, recovered %v; want %v, %v", err, recovered, step.want, step.recovered)
			}
		}
		_, _ = s.request(t.Context(), rollouts.GroupVersionKind, time.Now(), hangs)
		time.Sleep(slowFor)
		for i := range 5 {
			go func() { _, _ = s.request(t.Context(), rollouts.GroupVersionKind, time.Now(), hangs) }()
			synctest.Wait()
			if s.enter(rollouts.GroupVersionKind, time.Now()) {
				t.Errorf("%d ask at once", i+2)
			}
		}
	})
}
