package timewindowscaler

import (
	"fmt"
	"sync"
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
		if got := olderThan(tc.a, tc.b); got != tc.want {
			t.Errorf("%q older than %q: %v", tc.a, tc.b, got)
		}
	}
}

// Until the cache has caught up, what our own write returned is newer than what it holds.
func TestNewerTarget(t *testing.T) {
	at := func(uid, version string) *target {
		return &target{uid: types.UID(uid), resourceVersion: version}
	}
	for name, tc := range map[string]struct {
		scaled, read *target
		ours         bool
	}{
		"nothing written":           {nil, at("a", "5"), false},
		"the cache is behind":       {at("a", "10"), at("a", "9"), true},
		"the cache has caught up":   {at("a", "10"), at("a", "10"), false},
		"the cache is ahead":        {at("a", "10"), at("a", "11"), false},
		"recreated under the name":  {at("a", "10"), at("b", "12"), false},
		"the spec names another":    {at("a", "10"), at("b", "5"), false}, // which changed before our write
		"versions without an order": {at("a", "?"), at("a", "5"), false},
	} {
		mem := &recollection{scaled: tc.scaled}
		got := mem.newerTarget(tc.read)
		if want := map[bool]*target{true: tc.scaled, false: tc.read}[tc.ours]; got != want {
			t.Errorf("%s: %+v", name, got)
		}
		if remembered := mem.scaled != nil; remembered != tc.ours {
			t.Errorf("%s: our write is still remembered: %v", name, remembered)
		}
	}
}

// Each scaler has its own recollection until it is forgotten.
func TestMemoryIsPerScaler(t *testing.T) {
	var m memory
	web, api := types.NamespacedName{Namespace: "shop", Name: "web"}, types.NamespacedName{Namespace: "shop", Name: "api"}
	m.of(web).failures = 3
	if m.of(web).failures != 3 || m.of(api).failures != 0 {
		t.Errorf("web %d, api %d", m.of(web).failures, m.of(api).failures)
	}
	m.forget(api)
	m.forget(web)
	if m.of(web).failures != 0 {
		t.Error("not forgotten")
	}
}

func TestMemoryFromManyWorkers(t *testing.T) {
	var m memory
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			key := types.NamespacedName{Name: fmt.Sprint(i)}
			for range 100 {
				m.of(key).failures++
			}
			m.forget(types.NamespacedName{Name: "gone"})
		})
	}
	all.Wait()
	for i := range 8 {
		if got := m.of(types.NamespacedName{Name: fmt.Sprint(i)}).failures; got != 100 {
			t.Errorf("scaler %d: %d", i, got)
		}
	}
}
