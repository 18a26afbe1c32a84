package timewindowscaler

import (
	"fmt"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
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

// A change of nothing but the observed count waits up to a second for the next; everything else,
// and the last of a row, is written.
func TestHoldsBack(t *testing.T) {
	status := func(observed int32, change ...func(*v1alpha1.TimeWindowScalerStatus)) *v1alpha1.TimeWindowScalerStatus {
		s := &v1alpha1.TimeWindowScalerStatus{
			EffectiveReplicas:      ptr.To[int32](10),
			TargetObservedReplicas: ptr.To(observed),
			Conditions:             []metav1.Condition{{Type: "Ready", Message: "m"}},
		}
		for _, c := range change {
			c(s)
		}
		return s
	}
	without := func(s *v1alpha1.TimeWindowScalerStatus) { s.TargetObservedReplicas = nil }
	ready := func(s *v1alpha1.TimeWindowScalerStatus) { s.Conditions[0].Message = "other" }
	type pass struct {
		after time.Duration
		next  *v1alpha1.TimeWindowScalerStatus
		holds bool
	}
	last := status(2)
	for name, tc := range map[string]struct {
		last   *v1alpha1.TimeWindowScalerStatus
		passes []pass
	}{
		"nothing changed": {last, []pass{{0, status(2), false}}},
		"the count alone": {last, []pass{{0, status(3), true}}},
		"a rollout writes once a second": {last, []pass{{0, status(3), true}, {400 * time.Millisecond, status(4), true},
			{999 * time.Millisecond, status(5), true}, {time.Second, status(6), false}, {time.Second, status(7), true}}},
		"the last of a row":           {last, []pass{{0, status(3), true}, {time.Second, status(3), false}}},
		"the count and a condition":   {last, []pass{{0, status(3), true}, {time.Millisecond, status(10, ready), false}}},
		"back to what was written":    {last, []pass{{0, status(3), true}, {time.Millisecond, status(2), false}, {2 * time.Second, status(3), true}}},
		"the target went":             {last, []pass{{0, status(0, without), false}}},
		"the target came":             {status(0, without), []pass{{0, status(3), false}}},
		"the clock was set back":      {last, []pass{{time.Hour, status(3), true}, {0, status(4), true}, {time.Second, status(5), false}}},
		"no status yet, no count yet": {&v1alpha1.TimeWindowScalerStatus{}, []pass{{0, &v1alpha1.TimeWindowScalerStatus{}, false}}},
	} {
		mem := &recollection{}
		for i, p := range tc.passes {
			pass := &situation{tws: &v1alpha1.TimeWindowScaler{Status: *tc.last}, now: ist(inTheHours).Add(p.after)}
			if got := mem.holdsBack(pass, p.next); got != p.holds {
				t.Errorf("%s, pass %d: holds back %v", name, i+1, got)
			}
			if waiting := !mem.heldSince.IsZero(); waiting != p.holds {
				t.Errorf("%s, pass %d: waiting %v", name, i+1, waiting)
			}
		}
	}
}

// After our own write the status waits up to a second for the pods, and no longer than they need.
func TestHoldsBackWhileTheTargetIsOnItsWay(t *testing.T) {
	last, next := &v1alpha1.TimeWindowScalerStatus{CurrentWindow: "OffHours"}, &v1alpha1.TimeWindowScalerStatus{CurrentWindow: "BusinessHours"}
	for name, tc := range map[string]struct {
		outcome outcome
		written bool
		after   time.Duration
		want    bool
	}{
		"pods still to come":        {outcome{target: deployment(10, 2)}, true, 0, true},
		"pods to come for a second": {outcome{target: deployment(10, 2)}, true, time.Second, false},
		"arrived":                   {outcome{target: deployment(10, 10)}, true, 0, false},
		"not our write":             {outcome{target: deployment(10, 2)}, false, 0, false},
		"refused since":             {outcome{target: deployment(10, 2), refused: errRefused}, true, 0, false},
		"gone since":                {outcome{}, true, 0, false},
	} {
		mem := &recollection{}
		if tc.written {
			mem.unreported = ptr.To(metav1.NewTime(ist(inTheHours)))
		}
		if tc.after > 0 {
			mem.heldSince = ist(inTheHours)
		}
		tws := officeHours()
		tws.Status = *last
		pass := &situation{tws: tws, plan: plan{effective: 10}, outcome: tc.outcome, now: ist(inTheHours).Add(tc.after)}
		if got := mem.holdsBack(pass, next); got != tc.want {
			t.Errorf("%s: holds back %v", name, got)
		}
	}
}

// The next pass after a refused write comes with the back-off, up to minutes later: a status must not
// wait for it.
func TestHoldsBackNothingWhenRefused(t *testing.T) {
	last := v1alpha1.TimeWindowScalerStatus{TargetObservedReplicas: ptr.To[int32](2)}
	next := v1alpha1.TimeWindowScalerStatus{TargetObservedReplicas: ptr.To[int32](3)}
	pass := &situation{
		tws:     &v1alpha1.TimeWindowScaler{Status: last},
		outcome: outcome{target: deployment(3, 3), refused: errRefused},
		now:     ist(inTheHours),
	}
	mem := &recollection{heldSince: ist(inTheHours)}
	if mem.holdsBack(pass, &next) || !mem.heldSince.IsZero() {
		t.Error("the count is held back although no pass is near")
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
