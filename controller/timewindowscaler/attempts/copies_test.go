package attempts

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Do is the function Do without an answer.
func (a *Attempts) Do(ctx context.Context, id ID, of Lane, cause Cause, send func(context.Context) error) error {
	_, err := Do(ctx, a, id, of, cause, func(ctx context.Context) (struct{}, error) { return struct{}{}, send(ctx) })
	return err
}

// passLength bounds a request, as the controller does.
const passLength = 30 * time.Second

// B10: for 70 seconds an API server that is ready never answers a verb. Then it answers, but not what it got before. All that is due
// is done within five seconds, in one namespace as in many, and few requests are sent meanwhile.
func TestRequestsThatAreNeverAnswered(t *testing.T) {
	const outage = 70 * time.Second
	for name, shape := range map[string]struct{ namespaces, scalers int }{
		"one scaler": {1, 1}, "one namespace": {1, 100}, "some namespaces": {10, 10}, "many namespaces": {50, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				began, sent := time.Now(), atomic.Int64{}
				a := newArena(ctx, 64, map[string]time.Duration{})
				a.answer = func(ctx context.Context, _ string) error {
					if time.Since(began) < outage {
						sent.Add(1)
						<-ctx.Done()
						return ctx.Err()
					}
					time.Sleep(5 * time.Millisecond)
					return nil
				}
				for i := range shape.namespaces {
					a.add(fmt.Sprint(i), shape.scalers)
				}
				time.Sleep(outage + 10*time.Minute)
				for i := range shape.namespaces {
					if last, all := a.settled(fmt.Sprint(i), shape.scalers); !all || last > outage+5*time.Second {
						t.Errorf("namespace %d was done %s after the outage, all: %v", i, last-outage, all)
					}
				}
				if most := 64 + 2*perSecond*int64(outage.Seconds()); sent.Load() > most {
					t.Errorf("%d requests during the outage, want at most %d", sent.Load(), most)
				}
			})
		})
	}
}

// The request itself is awaited as long as ever, so that a slow webhook answers in the end. It has one copy at a time.
func TestASlowAnswerIsAwaited(t *testing.T) {
	for _, answer := range []time.Duration{2 * time.Second, 4 * time.Second, 12 * time.Second, 29 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			a := newArena(ctx, 64, map[string]time.Duration{"shop": answer})
			a.add("shop", 1)
			time.Sleep(time.Hour)
			if at, done := a.settled("shop", 1); !done || at != answer {
				t.Errorf("done: %v, after %s, want %s", done, at, answer)
			}
			if most := a.most["shop"]; most > 2 {
				t.Errorf("%d requests at once", most)
			}
			if a.passes != 1 {
				t.Errorf("%d passes", a.passes)
			}
		})
	}
}

// Whichever of the two is answered first counts, and the other one is given up.
func TestTheFirstAnswerCounts(t *testing.T) {
	for name, tc := range map[string]struct {
		request, another time.Duration // until they are answered
		failure, want    error         // of the other one
		answer           int
	}{
		"the request":        {4 * time.Second, 2 * time.Second, nil, nil, 1},
		"the copy":           {20 * time.Second, time.Second, nil, nil, 2},
		"the copy's error":   {20 * time.Second, time.Second, errConflict, errConflict, 0},
		"no answer in time":  {10 * time.Second, time.Second, context.DeadlineExceeded, nil, 1},
		"neither is hanging": {time.Second, time.Second, nil, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), passLength)
				defer stop()
				a := newArena(ctx, 1, nil)
				var sent, given atomic.Int64
				got, err := Do(ctx, a.Attempts, write("shop", "web"), Lane{"shop", deployments}, Cause{}, func(ctx context.Context) (int, error) {
					number, wait, failure := int(sent.Add(1)), tc.request, error(nil)
					if number > 1 {
						wait, failure = tc.another, tc.failure
					}
					select {
					case <-time.After(wait):
						return number, failure
					case <-ctx.Done():
						given.Add(1)
						return 0, ctx.Err()
					}
				})
				if got != tc.answer && tc.want == nil || !errors.Is(err, tc.want) {
					t.Errorf("got %d, %v, want %d, %v", got, err, tc.answer, tc.want)
				}
				if synctest.Wait(); tc.failure == nil && given.Load() != sent.Load()-1 {
					t.Errorf("%d of %d requests were given up", given.Load(), sent.Load())
				}
			})
		})
	}
}
