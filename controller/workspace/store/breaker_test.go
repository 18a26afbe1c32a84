package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/endpoints"
)

var errSilent = fmt.Errorf("a: %w: %w", archive.ErrUnreachable, &url.Error{Err: errors.New("connection refused")})

func TestUnanswered(t *testing.T) {
	for want, errs := range map[bool][]error{
		true:  {errSilent, fmt.Errorf("a: %w", context.DeadlineExceeded), errors.Join(archive.ErrNotFound, errSilent)},
		false: {nil, archive.ErrDenied, archive.ErrBucketMissing, archive.ErrNotFound, archive.ErrUnreachable, archive.ErrCorrupt, &url.Error{Err: &endpoints.Refused{}}},
	} {
		for _, err := range errs {
			if unanswered(err) != want {
				t.Errorf("%v: %t", err, !want)
			}
		}
	}
}

func TestASilentStoreIsLeftAlone(t *testing.T) {
	b, now := &breaker{}, time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for i, rest := range []time.Duration{0, 0, 5, 10, 20, 40, 60, 60} {
		probe, err := b.begin(now)
		if err != nil || probe != (i >= tolerated) {
			t.Fatalf("call %d: %t, %v", i+1, probe, err)
		}
		if probe {
			if _, err := b.begin(now); err == nil {
				t.Error("two probes at the same time")
			}
		}
		b.end(now, probe, false, errSilent)
		if rest == 0 {
			continue
		}
		again := now.Add(rest * time.Second)
		err = b.check(again.Add(-time.Second))
		want := fmt.Sprintf("it did not answer %d times in a row; it is asked again at %s", i+1, again.Format(time.RFC3339))
		if !errors.Is(err, archive.ErrUnreachable) || unanswered(err) || !strings.Contains(err.Error(), want) || Cause(err) != errSilent.Error() {
			t.Errorf("after call %d: %v, want %q", i+1, err, want)
		}
		if err := b.check(now.Add(-time.Hour)); err != nil {
			t.Errorf("the clock was set back: %v", err)
		}
		now = again
	}
	probe, err := b.begin(now)
	if err != nil {
		t.Fatal(err)
	}
	b.end(now, probe, true, errSilent) // given up, for the manager stops
	if probe, err = b.begin(now); err != nil {
		t.Fatal(err)
	}
	b.end(now, probe, false, archive.ErrDenied)
	if err := b.check(now); err != nil {
		t.Errorf("it answered: %v", err)
	}
}

// A probe that is in progress is the only one, also if an earlier call was answered and others fail meanwhile.
func TestAProbeIsTheOnlyOne(t *testing.T) {
	b, now := &breaker{}, time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	begin := func() bool {
		t.Helper()
		probe, err := b.begin(now)
		if err != nil {
			t.Fatal(err)
		}
		return probe
	}
	early := begin()
	fail := func() {
		for range tolerated {
			b.end(now, begin(), false, errSilent)
		}
		now = now.Add(longestRest)
	}
	fail()
	if !begin() {
		t.Fatal("the store is called without a probe")
	}
	b.end(now, early, false, nil)
	fail()
	if probe, err := b.begin(now); err == nil {
		t.Errorf("another call beside the probe, itself one: %v", probe)
	}
}

// Whatever calls overlap: there is one probe at a time, and after its rest the store is asked again.
func TestABreakerNeverSticks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b, now := &breaker{}, time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
		var calls []bool
		probes := 0
		for range rapid.IntRange(1, 80).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-100, 100).Draw(rt, "seconds")) * time.Second)
			if len(calls) == 0 || rapid.Bool().Draw(rt, "begin") {
				if probe, err := b.begin(now); err == nil {
					calls = append(calls, probe)
					if probe {
						probes++
					}
				}
			} else {
				i := rapid.IntRange(0, len(calls)-1).Draw(rt, "call")
				if calls[i] {
					probes--
				}
				b.end(now, calls[i], rapid.Bool().Draw(rt, "given up"), rapid.SampledFrom([]error{nil, errSilent, archive.ErrDenied}).Draw(rt, "err"))
				calls = append(calls[:i:i], calls[i+1:]...)
			}
			if probes > 1 {
				rt.Fatal("two probes")
			}
		}
		for _, probe := range calls {
			b.end(now, probe, false, errSilent)
		}
		if err := b.check(now.Add(longestRest)); err != nil && b.check(now) != nil { // open now, if the clock was set back
			rt.Fatal(err)
		}
	})
}
