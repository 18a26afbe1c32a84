package attempts

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var (
	deployments = schema.GroupKind{Group: "apps", Kind: "Deployment"}
	errAway     = apierrors.NewServiceUnavailable("starting")
	errRefused  = apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "web", errors.New("freeze"))
	errWebhook  = apierrors.NewInternalError(errors.New(`failed calling webhook "policy.example.com"`))
	errConflict = apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "web", errors.New("modified"))
)

// fixture is an Attempts with manual time, and an API server that is there or away.
type fixture struct {
	*testing.T
	*Attempts
	now    time.Duration
	away   bool
	probes int
	woken  []types.NamespacedName
}

func newFixture(t *testing.T, workers int) *fixture {
	v := &fixture{T: t}
	v.Attempts = New(workers, func() time.Duration { return v.now })
	v.Probe = func(ctx context.Context) error {
		if _, bounded := ctx.Deadline(); !bounded {
			t.Error("a probe may hang for ever")
		}
		v.probes++
		if v.away {
			return errors.New("connection refused")
		}
		return nil
	}
	v.Wake = func(keys ...types.NamespacedName) { v.woken = append(v.woken, keys...) }
	return v
}

func write(namespace, name string) ID {
	return ID{types.NamespacedName{Namespace: namespace, Name: name}, WriteTarget}
}

// try tries once and reports whether a request was sent, and the trouble.
func (v *fixture) try(id ID, cause Cause, answer error) (sent bool, trouble *Trouble) {
	v.Helper()
	err := v.Do(v.Context(), id, Lane{id.Scaler.Namespace, deployments}, cause, func(context.Context) error {
		sent = true
		return answer
	})
	errors.As(err, &trouble)
	if trouble != nil && trouble.Sent != sent {
		v.Errorf("sent %v, but the trouble says %v", sent, trouble.Sent)
	}
	return sent, trouble
}

// seconds lets n seconds pass and returns how many scalers were woken.
func (v *fixture) seconds(n int) int {
	v.Helper()
	v.woken = nil
	for range n {
		v.now += time.Second
		v.Tick(v.Context())
	}
	return len(v.woken)
}

// B10: what the API server cannot do now is tried again every second, and what a policy refuses every half minute,
// whatever wakes the scaler in between. A webhook may just be restarting.
func TestThePaceOfRetries(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want []int // seconds
	}{
		"the API server has trouble": {errAway, []int{0, 1, 2, 3, 4, 5, 6}},
		"a policy refuses":           {errRefused, []int{0, 30, 60, 90, 120}},
		"a webhook is away":          {errWebhook, []int{0, 1, 31, 61}},
	} {
		t.Run(name, func(t *testing.T) {
			v := newFixture(t, 10)
			var got []int
			for second := 0; len(got) < len(tc.want); second++ {
				for range 5 { // rollouts of the target, for example
					if sent, _ := v.try(write("shop", "web"), Cause{Generation: 1}, tc.err); sent {
						got = append(got, second)
					}
				}
				v.seconds(1)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// An edit, a new target and a boundary are other work. Each is tried at once, and then waits like the one before.
func TestAnotherCauseIsTriedAtOnce(t *testing.T) {
	v := newFixture(t, 10)
	id := write("shop", "web")
	for i, cause := range []Cause{{Generation: 1}, {Generation: 2}, {Generation: 2, Target: "u-2"}, {Generation: 2, Target: "u-2", Until: time.Unix(1, 0)}} {
		if sent, _ := v.try(id, cause, errRefused); !sent {
			t.Errorf("cause %d: not tried", i)
		}
		if sent, _ := v.try(id, cause, nil); sent {
			t.Errorf("cause %d: tried again at once", i)
		}
	}
}

// B10: trouble is reported after the second failure in a row, or when it has gone on for half a minute.
func TestTroubleThatLasts(t *testing.T) {
	v := newFixture(t, 10)
	id := write("shop", "web")
	lasts := func(what string, want bool, failures int) {
		t.Helper()
		_, trouble := v.try(id, Cause{}, errAway)
		if trouble == nil || trouble.Lasts != want || trouble.Failures != failures || !errors.Is(trouble, errAway) {
			t.Errorf("%s: %+v, want lasts %v after %d failures", what, trouble, want, failures)
		}
	}
	lasts("the first failure", false, 1)
	lasts("it waits", false, 1)
	v.seconds(2)
	lasts("the second failure", true, 2)
	v.seconds(2)
	v.try(id, Cause{}, nil)
	lasts("after a success", false, 1)
	v.away = true
	v.seconds(29)
	lasts("29 s", false, 1)
	v.now += time.Second
	lasts("30 s", true, 1)
}

// The message of a condition stays the same while only numbers differ.
func TestTheFirstMessageStays(t *testing.T) {
	v := newFixture(t, 10)
	for i, want := range []string{"port 1", "port 1", "timeout"} {
		_, trouble := v.try(write("shop", "web"), Cause{Generation: int64(i)}, errors.New([]string{"port 1", "port 2", "timeout"}[i]))
		if trouble.Error() != want {
			t.Errorf("got %q, want %q", trouble, want)
		}
	}
}

// A conflict shows that the API server answers: the repetition does not wait.
func TestAConflictIsRepeated(t *testing.T) {
	v := newFixture(t, 10)
	id := write("shop", "web")
	v.try(id, Cause{}, errAway)
	v.seconds(2)
	if err := v.Do(t.Context(), id, Lane{"shop", deployments}, Cause{}, func(context.Context) error { return errConflict }); !errors.Is(err, errConflict) {
		t.Errorf("got %v", err)
	}
	if sent, trouble := v.try(id, Cause{}, nil); !sent || trouble != nil {
		t.Errorf("sent %v, trouble %v", sent, trouble)
	}
}

// The end of the manager is no failure.
func TestTheEndOfThePass(t *testing.T) {
	v := newFixture(t, 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := v.Do(ctx, write("shop", "web"), Lane{"shop", deployments}, Cause{}, func(ctx context.Context) error { return ctx.Err() }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if len(v.entries) > 0 {
		t.Error("counted as a failure")
	}
}

// While nothing succeeds there are ten retries a second at most, of all namespaces in turn. The first success lets
// two others try, and so on: all are done soon.
func TestManyScalersBehindOneFailure(t *testing.T) {
	const namespaces, scalers = 20, 50
	v := newFixture(t, 1000)
	ids := map[types.NamespacedName]ID{}
	for i := range namespaces {
		for j := range scalers {
			id := write(fmt.Sprintf("shop-%d", i), fmt.Sprintf("web-%d", j))
			ids[id.Scaler] = id
			v.try(id, Cause{}, errWebhook)
		}
	}
	tries, perNamespace := 0, map[string]int{}
	for range 100 {
		v.seconds(1)
		if len(v.woken) > perSecond {
			t.Fatalf("%d retries in a second", len(v.woken))
		}
		for _, key := range v.woken {
			v.try(ids[key], Cause{}, errWebhook)
			tries++
			perNamespace[key.Namespace]++
		}
	}
	for namespace, n := range perNamespace {
		if n < tries/namespaces-2 || n > tries/namespaces+2 {
			t.Errorf("%d of %d retries were of %s, one of %d namespaces", n, tries, namespace, namespaces)
		}
	}
	v.seconds(60)
	rounds := 0
	for len(v.woken) > 0 {
		now := v.woken
		v.woken = nil
		for _, key := range now {
			v.try(ids[key], Cause{}, nil)
		}
		rounds++
	}
	if len(v.entries) > 0 || rounds > 12 {
		t.Errorf("%d of %d still wait after %d rounds", len(v.entries), len(ids), rounds)
	}
}

// A success lets only those try that failed likewise: a policy that refuses one scaler is not asked again whenever
// another one is scaled.
func TestASuccessDoesNotWakeTheRefused(t *testing.T) {
	v := newFixture(t, 10)
	refused, failed, fresh := write("shop", "refused"), write("shop", "failed"), write("shop", "fresh")
	v.try(refused, Cause{}, errRefused)
	v.try(failed, Cause{}, errAway)
	v.seconds(2)
	v.woken = nil
	v.try(failed, Cause{}, nil)
	v.try(fresh, Cause{}, nil)
	if len(v.woken) > 0 {
		t.Errorf("woken: %v", v.woken)
	}
}

// Nothing is probed or woken without need.
func TestNoProbeWithoutNeed(t *testing.T) {
	v := newFixture(t, 10)
	id := write("shop", "web")
	v.try(id, Cause{}, nil)
	v.seconds(3)
	v.try(id, Cause{}, errAway)
	v.Over(id)
	v.seconds(60)
	v.try(id, Cause{}, errRefused)
	v.Forget(id.Scaler)
	if v.seconds(60); v.probes > 0 || len(v.woken) > 0 || len(v.entries) > 0 {
		t.Errorf("%d probes, woken %v, left %v", v.probes, v.woken, v.entries)
	}
	if v.seconds(3600); len(v.lanes) > 0 {
		t.Errorf("lanes left: %v", v.lanes)
	}
}

// While the API server is not ready nothing is sent, but not for ever: the probe may be wrong.
func TestAnAPIServerThatIsNotReady(t *testing.T) {
	v := newFixture(t, 10)
	id := write("shop", "web")
	v.try(id, Cause{}, errAway)
	v.away = true
	if woken := v.seconds(29); woken > 0 || v.probes != 29 {
		t.Errorf("woken %d times, %d probes", woken, v.probes)
	}
	if woken := v.seconds(1); woken != 1 {
		t.Errorf("woken %d times after 30 s", woken)
	}
	v.try(id, Cause{}, errAway)
	v.seconds(5)
	v.away = false
	if woken := v.seconds(1); woken != 1 {
		t.Errorf("woken %d times when it is ready again", woken)
	}
}

// What the API server got while it was away may never be answered. It is sent again when it is back.
func TestRequestsThatHangInAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newFixture(t, 10)
		id := write("shop", "web")
		var trouble error
		go func() {
			trouble = v.Do(t.Context(), id, Lane{"shop", deployments}, Cause{}, func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			})
		}()
		synctest.Wait()
		v.away = true
		v.seconds(40)
		v.away = false
		if synctest.Wait(); trouble != nil {
			t.Fatalf("ended before the API server was back: %v", trouble)
		}
		v.seconds(1)
		if synctest.Wait(); !errors.Is(trouble, errBack) {
			t.Fatalf("got %v", trouble)
		}
		if woken := v.seconds(1); woken != 1 {
			t.Errorf("woken %d times", woken)
		}
		if sent, _ := v.try(id, Cause{}, nil); !sent {
			t.Error("not sent again")
		}
	})
}
