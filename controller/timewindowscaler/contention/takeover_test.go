package contention

import (
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
)

// B8: a scaler takes over ten seconds after it first saw that the owner of its target is gone.
func TestTakeover(t *testing.T) {
	began := time.Date(2026, 3, 2, 22, 0, 0, 0, time.UTC)
	web, job := v1beta1.TargetRef{Kind: "Deployment", Name: "web"}, v1beta1.TargetRef{Kind: "Deployment", Name: "job"}
	type pass struct {
		second int
		target v1beta1.TargetRef
		owner  string // as the cache has it
		want   string // whose the target is
		until  int    // the second of the takeover, 0 for none
	}
	for name, passes := range map[string][]pass{
		"never had an owner":            {{0, web, "", "", 0}, {1, web, "", "", 0}},
		"the owner stays":               {{0, web, "a", "a", 0}, {60, web, "a", "a", 0}},
		"the owner goes":                {{0, web, "a", "a", 0}, {60, web, "", "a", 70}, {69, web, "", "a", 70}, {70, web, "", "", 0}, {71, web, "", "", 0}},
		"seen late":                     {{0, web, "a", "a", 0}, {60, web, "", "a", 70}, {300, web, "", "", 0}},
		"the owner comes back":          {{0, web, "a", "a", 0}, {1, web, "", "a", 11}, {5, web, "a", "a", 0}, {20, web, "", "a", 30}, {30, web, "", "", 0}},
		"another one owns it":           {{0, web, "a", "a", 0}, {1, web, "b", "b", 0}, {60, web, "", "b", 70}, {70, web, "", "", 0}},
		"another target, without one":   {{0, web, "a", "a", 0}, {1, job, "", "", 0}},
		"another target while it waits": {{0, web, "a", "a", 0}, {1, web, "", "a", 11}, {2, job, "", "", 0}, {3, web, "", "", 0}},
		"the clock is set back":         {{0, web, "a", "a", 0}, {60, web, "", "a", 70}, {1, web, "", "a", 11}, {11, web, "", "", 0}},
	} {
		var claim Claim
		for _, p := range passes {
			claim = claim.Follow(p.target, p.owner, began.Add(time.Duration(p.second)*time.Second))
			until := 0
			if at := claim.TakesOver(); !at.IsZero() {
				until = int(at.Sub(began).Seconds())
			}
			if claim.Owner != p.want || until != p.until {
				t.Errorf("%s, second %d: owner %q until %d, want %q until %d", name, p.second, claim.Owner, until, p.want, p.until)
			}
		}
	}
}
