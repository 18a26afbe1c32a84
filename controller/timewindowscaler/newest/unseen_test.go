package newest

import "testing"

// A cache without an object that was created and deleted has yet to see both, or will never see either. The object does not come back
// while it does.
func TestDeletedBeforeTheCacheHasSeenIt(t *testing.T) {
	var o Object[string]
	r := &reads{}
	r.read(t, &o, 0)
	o.Answered(state("b@12", "answered"))
	for step, want := range []struct {
		cache string
		ahead bool
	}{{"", true}, {"", true}, {"b@12", true}, {"", false}} {
		r.cache = want.cache
		if got := r.read(t, &o, 0); got != "" || o.Ahead() != want.ahead {
			t.Errorf("step %d: believes %q, ahead %t; want none, %t", step, got, o.Ahead(), want.ahead)
		}
	}
	if r.asked != 1 {
		t.Errorf("asked %d times, want once", r.asked)
	}
}
