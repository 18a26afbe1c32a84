package lifecycle_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/lifecycle"
)

func TestWatcher(t *testing.T) {
	ago := func(minutes int) time.Time { return noon.Add(-time.Duration(minutes) * time.Minute) }
	ready := lifecycle.Watcher{Exists: true, Runs: true, Ready: true, StartedAt: ago(60), Lasts: 5 * time.Minute}
	unready, fresh, restarting := ready, ready, ready
	unready.Ready, unready.UnreadySince = false, ago(2)
	fresh.Ready, fresh.StartedAt = false, ago(4)
	restarting.Runs, restarting.Ready = false, false
	sinceStart, never := ready, unready
	never.StartedAt = ago(8)
	notYetUnready := ready // for a minute the kubelet does not know yet that nobody uses it
	notYetUnready.StartedAt = ago(6)
	nothingListens := ready
	nothingListens.NothingListens = true
	unknown := unready
	unknown.UnreadySince = time.Time{}
	ahead := unready
	ahead.UnreadySince = ago(-60)
	for name, test := range map[string]struct {
		watcher      lifecycle.Watcher
		before, want lifecycle.Activity
	}{
		"none":                         {lifecycle.Watcher{}, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(9)}, lifecycle.Activity{Last: ago(9)}},
		"W81: nothing listens":         {nothingListens, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(9)}, lifecycle.Activity{Last: ago(9)}},
		"somebody comes":               {ready, lifecycle.Activity{Use: lifecycle.Idle, Last: ago(30)}, lifecycle.Activity{Use: lifecycle.InUse, Last: noon}},
		"and stays":                    {ready, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(9)}, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(9)}},
		"nobody is left":               {unready, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(9)}, lifecycle.Activity{Use: lifecycle.Idle, Last: ago(7)}},
		"nobody returns":               {unready, lifecycle.Activity{Use: lifecycle.Idle, Last: ago(9)}, lifecycle.Activity{Use: lifecycle.Idle, Last: ago(9)}},
		"a heartbeat was later":        {unready, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(6)}, lifecycle.Activity{Use: lifecycle.Idle, Last: ago(6)}},
		"since when is unknown":        {unknown, lifecycle.Activity{Use: lifecycle.InUse}, lifecycle.Activity{Use: lifecycle.Idle, Last: ago(5)}},
		"by a clock that is ahead":     {ahead, lifecycle.Activity{Use: lifecycle.InUse}, lifecycle.Activity{Use: lifecycle.Idle, Last: ago(5)}},
		"D15: a fresh start":           {fresh, lifecycle.Activity{}, lifecycle.Activity{Use: lifecycle.InUse}},
		"used since its start":         {sinceStart, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(90)}, lifecycle.Activity{Use: lifecycle.InUse, Last: noon}},
		"W109: or the kubelet is late": {notYetUnready, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(90)}, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(90)}},
		"W96: started, and not used":   {never, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(90)}, lifecycle.Activity{Use: lifecycle.Idle, Last: ago(90)}},
		"a restart":                    {restarting, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(9)}, lifecycle.Activity{Use: lifecycle.InUse, Last: ago(9)}},
		"a restart of an idle one":     {fresh, lifecycle.Activity{Use: lifecycle.Idle, Last: ago(9)}, lifecycle.Activity{Use: lifecycle.Idle, Last: ago(9)}},
		"the image is not pulled yet":  {restarting, lifecycle.Activity{}, lifecycle.Activity{Use: lifecycle.InUse}},
	} {
		if diff := cmp.Diff(test.want, test.watcher.Next(test.before, noon)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// W109: what was never used counts from the first start in which that could be seen, whatever starts it later.
func TestUnused(t *testing.T) {
	start := noon.Add(-time.Hour)
	watcher := lifecycle.Watcher{Exists: true, Runs: true, StartedAt: start, Lasts: 5 * time.Minute}
	later := watcher
	later.StartedAt = noon
	for name, test := range map[string]struct {
		watcher lifecycle.Watcher
		before  time.Time
		next    lifecycle.Activity
		want    time.Time
	}{
		"it has just started":      {watcher, time.Time{}, lifecycle.Activity{Use: lifecycle.InUse}, time.Time{}},
		"nobody came":              {watcher, time.Time{}, lifecycle.Activity{Use: lifecycle.Idle}, start},
		"it is started again":      {later, start, lifecycle.Activity{Use: lifecycle.InUse}, start},
		"and nobody came":          {later, start, lifecycle.Activity{Use: lifecycle.Idle}, start},
		"somebody came":            {later, start, lifecycle.Activity{Use: lifecycle.InUse, Last: noon}, time.Time{}},
		"nothing tells any longer": {later, start, lifecycle.Activity{}, time.Time{}},
	} {
		if got := test.watcher.Unused(test.before, test.next); !got.Equal(test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// Whoever starts a Workspace that nobody uses, and whenever the manager looks: that is never taken for use (W96, W109). The kubelet is up
// to a minute and a half late.
func TestAStartIsNoUse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known, unused := lifecycle.Activity{}, time.Time{}
		now, first := noon, time.Time{}
		for range rapid.IntRange(1, 4).Draw(t, "starts") {
			watcher := lifecycle.Watcher{Exists: true, Runs: true, Ready: true, StartedAt: now, Lasts: 5 * time.Minute}
			unready := now.Add(watcher.Lasts + time.Duration(rapid.IntRange(1, 90).Draw(t, "late"))*time.Second)
			known.Use = lifecycle.Untold // while it did not run
			for range rapid.IntRange(1, 20).Draw(t, "looks") {
				now = now.Add(time.Duration(rapid.IntRange(1, 70).Draw(t, "pause")) * time.Second)
				if watcher.Ready = now.Before(unready); !watcher.Ready {
					watcher.UnreadySince = unready
				}
				known = watcher.Next(known, now)
				if unused = watcher.Unused(unused, known); first.IsZero() && known.Use == lifecycle.Idle {
					first = watcher.StartedAt
				}
			}
			if !known.Last.IsZero() || !unused.Equal(first) {
				t.Fatalf("used at %v, unused since %v, want %v", known.Last, unused, first)
			}
			now = now.Add(time.Hour)
		}
	})
}

// Whatever the kubelet reports and the clock is set to: the last use is never in the future nor earlier than it was, only a
// watcher that has run for long enough makes a Workspace idle, and a manager that looks twice finds the same.
func TestAnyWatcher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := func(label string) time.Time {
			return noon.Add(time.Duration(rapid.IntRange(-90, 90).Draw(t, label)) * time.Minute)
		}
		watcher := lifecycle.Watcher{
			Exists: rapid.Bool().Draw(t, "exists"), Runs: rapid.Bool().Draw(t, "runs"), Ready: rapid.Bool().Draw(t, "ready"), NothingListens: rapid.Bool().Draw(t, "nothingListens"),
			StartedAt: moment("started"), UnreadySince: moment("unready"), Lasts: 5 * time.Minute,
		}
		before := lifecycle.Activity{Use: rapid.SampledFrom([]lifecycle.Use{lifecycle.Untold, lifecycle.InUse, lifecycle.Idle}).Draw(t, "before")}
		if rapid.Bool().Draw(t, "was used") {
			before.Last = noon.Add(-time.Duration(rapid.IntRange(0, 90).Draw(t, "last")) * time.Minute)
		}
		after := watcher.Next(before, noon)
		switch {
		case after.Last.After(noon) || after.Last.Before(before.Last):
			t.Fatalf("last used at %v, before at %v", after.Last, before.Last)
		case after.Use == lifecycle.Idle && before.Use != lifecycle.Idle && noon.Sub(watcher.StartedAt) < watcher.Lasts:
			t.Fatal("idle too soon")
		case watcher.Next(after, noon.Add(time.Second)) != after && noon.Add(time.Second).Sub(watcher.StartedAt) != watcher.Lasts:
			t.Fatalf("then %+v", watcher.Next(after, noon.Add(time.Second)))
		}
	})
}

func TestUseLasts(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{0: 5 * time.Minute, time.Minute: time.Minute, 5 * time.Minute: 5 * time.Minute, 8 * time.Hour: 5 * time.Minute} {
		if got := lifecycle.UseLasts(ttl); got != want {
			t.Errorf("a TTL of %s: %s, want %s", ttl, got, want)
		}
	}
}
