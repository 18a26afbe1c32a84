package kindwatch

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testingclock "k8s.io/utils/clock/testing"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
)

// listing is one kind whose list has begun.
type listing struct {
	*testing.T
	*Watches
	k        *kindWatch
	clock    *testingclock.FakePassiveClock
	notified int
}

func newListing(t *testing.T) *listing {
	v := &listing{T: t, clock: testingclock.NewFakePassiveClock(time.Date(2025, 1, 27, 14, 0, 0, 0, time.UTC))}
	v.k = &kindWatch{kind: rollouts, stop: func() {}}
	v.Watches = &Watches{
		Clock: v.clock, Log: logr.Discard(), Known: func(schema.GroupVersionKind) { v.notified++ },
		ctx: t.Context(), kinds: map[schema.GroupVersionKind]*kindWatch{rollouts.GroupVersionKind: v.k},
	}
	return v
}

func (v *listing) passes(d time.Duration) { v.clock.SetTime(v.clock.Now().Add(d)) }

func (v *listing) expect(what string, unlisted, troubled bool, notified int) {
	v.Helper()
	var err *UnlistedError
	_, got := v.Objects(rollouts)
	if errors.As(got, &err) != unlisted || (v.Trouble(rollouts.GroupVersionKind) != nil) != troubled || v.notified != notified {
		v.Errorf("%s: %v, trouble %v, notified %d times; want unlisted %v, trouble %v, %d times",
			what, got, v.Trouble(rollouts.GroupVersionKind), v.notified, unlisted, troubled, notified)
	}
}

var errConversion = apierrors.NewInternalError(errors.New("conversion webhook for argoproj.io/v1beta1, Kind=Rollout failed"))

// A kind that cannot be listed is reported at the second failure, and its scalers are told once.
func TestAListThatFails(t *testing.T) {
	v := newListing(t)
	v.expect("at first", false, false, 0)
	v.failing(v.k, errConversion)
	v.expect("the first failure", false, false, 0)
	v.failing(v.k, errConversion)
	v.expect("the second failure", true, false, 1)
	v.failing(v.k, errConversion)
	v.expect("the third failure", true, false, 1)
	_, err := v.Objects(rollouts)
	if want := "the objects of kind Rollout of argoproj.io/v1alpha1 cannot be listed and watched: Internal error occurred: conversion webhook"; !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %q, want it to begin with %q", err, want)
	}
	v.filled(t.Context(), v.k, cached{})
	v.expect("listed", false, false, 2)
	if got := counted(t); got < 3 {
		t.Errorf("%v failures counted, want 3", got)
	}
}

// A kind that was listed keeps its content, but its scalers say that changes may go unnoticed, until it is listed again.
func TestAWatchThatFails(t *testing.T) {
	v := newListing(t)
	v.filled(t.Context(), v.k, cached{})
	for range 5 {
		v.failing(v.k, errConversion)
		v.passes(7 * time.Second)
	}
	v.expect("half a minute", false, true, 1)
	v.failing(v.k, errConversion)
	v.expect("reported", false, true, 2)
	v.alive(v.k)
	v.expect("listed again", false, false, 3)
	v.alive(v.k)
	v.expect("and again", false, false, 3)
}

// Watches end all the time.
func TestTheEndOfAWatchIsNoTrouble(t *testing.T) {
	v := newListing(t)
	for _, err := range []error{io.EOF, io.ErrUnexpectedEOF, apierrors.NewResourceExpired("too old")} {
		v.failing(v.k, err)
		v.failing(v.k, err)
	}
	v.expect("routine", false, false, 0)
}

func counted(t *testing.T) (total float64) {
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "kyklos_target_list_failures_total" {
			for _, m := range family.GetMetric() {
				total += m.GetCounter().GetValue()
			}
		}
	}
	return total
}
