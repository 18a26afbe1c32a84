package attempts

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

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
