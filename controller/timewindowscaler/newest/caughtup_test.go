package newest

import "testing"

// The answer to a write is kept until the cache has it, and what is believed does not depend on whether the cache said so
// before the next read.
func TestAnAnswerIsKeptUntilTheCacheHasIt(t *testing.T) {
	for name, tc := range map[string]struct {
		said string // what the cache has
		kept bool
	}{
		"behind":        {"a@9", true},
		"caught up":     {"a@10", false},
		"ahead":         {"a@11", false},
		"recreated":     {"b@12", false},
		"without order": {"a@x", true},
	} {
		var o Object[string]
		r := &reads{cache: "a@9"}
		r.read(t, &o, 0)
		o.Answered(state("a@10", "answered"))
		o.CaughtUp(state(tc.said, "cached"))
		if kept := o.last.Value != ""; kept != tc.kept || o.Ahead() != tc.kept {
			t.Errorf("%s: kept %v, ahead %v, want %v", name, kept, o.Ahead(), tc.kept)
		}
		want := tc.said + " cached"
		if tc.said == "a@9" {
			want = "a@10 answered"
		} else if tc.kept {
			want = tc.said + " asked"
		}
		r.cache, r.server = tc.said, tc.said
		if got := r.read(t, &o, 0); got != want {
			t.Errorf("%s: believed %q, want %q", name, got, want)
		}
	}
}

// While a write showed that what is known is outdated, the cache does not count.
func TestACacheThatCatchesUpInDoubt(t *testing.T) {
	var o Object[string]
	r := &reads{cache: "a@9", server: "a@12"}
	r.read(t, &o, 0)
	o.Answered(state("a@10", "answered"))
	o.Doubt()
	o.CaughtUp(state("a@10", "cached"))
	r.cache = "a@10"
	if got := r.read(t, &o, 0); got != "a@12 asked" {
		t.Errorf("believed %q", got)
	}
}
