package attempts

import (
	"testing"
	"time"
)

// A place in line is taken only where a lane is full and answers, and is served as any other.
func TestAPlaceWithoutAPass(t *testing.T) {
	v := newReporters(t, 16)
	web := ID{named("web"), WriteTarget}
	if v.Wait(web, scalers) {
		t.Error("waits for an empty lane")
	}
	end, also := v.begins("a"), v.begins("b")
	for range 2 {
		if !v.Wait(web, scalers) {
			t.Error("does not wait for a full lane")
		}
	}
	end()
	v.expectCalls("there is a place", "", "web")
	v.Leave(web)
	v.expectTurn("only one writes", false, "b", true)
	also()
	v.expectCalls("nobody waits any more", "b", "")
	end, also = v.begins("a"), v.begins("b")
	v.now += time.Minute
	v.Tick(t.Context()) // the lane hangs
	if v.Wait(web, scalers) {
		t.Error("waits for a lane that hangs")
	}
	end()
	also()
}
