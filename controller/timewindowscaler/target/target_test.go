package target

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestOlderThan(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"9", "10", true},
		{"10", "9", false},
		{"10", "10", false},
		{"99999999999999999998", "99999999999999999999", true}, // above 64 bits
		{"", "10", false}, // what cannot be compared is not older
		{"10", "", false},
		{"x", "10", false},
	} {
		if got := OlderThan(tc.a, tc.b); got != tc.want {
			t.Errorf("%q older than %q: %v", tc.a, tc.b, got)
		}
	}
}

// Until the cache has caught up, what our own write returned is newer than what it holds.
func TestNewerTarget(t *testing.T) {
	at := func(uid, version string) Target {
		return &Replicated{Common{UID: types.UID(uid), ResourceVersion: version}}
	}
	for name, tc := range map[string]struct {
		last, read Target
		ours       bool
	}{
		"nothing written":           {nil, at("a", "5"), false},
		"the cache is behind":       {at("a", "10"), at("a", "9"), true},
		"the cache has caught up":   {at("a", "10"), at("a", "10"), false},
		"the cache is ahead":        {at("a", "10"), at("a", "11"), false},
		"recreated under the name":  {at("a", "10"), at("b", "12"), false},
		"the spec names another":    {at("a", "10"), at("b", "5"), false}, // which changed before our write
		"versions without an order": {at("a", "?"), at("a", "5"), false},
	} {
		memory := &Memory{Last: tc.last}
		got := memory.newer(tc.read)
		if want := map[bool]Target{true: tc.last, false: tc.read}[tc.ours]; got != want {
			t.Errorf("%s: %+v", name, got)
		}
		if remembered := memory.Last != nil; remembered != tc.ours {
			t.Errorf("%s: our write is still remembered: %v", name, remembered)
		}
	}
}
