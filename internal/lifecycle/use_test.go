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
	change := func(w lifecycle.Watcher, changes ...func(*lifecycle.Watcher)) lifecycle.Watcher {
		for _, change := range changes {
			change(&w)
		}
		return w
	}
	ready := lifecycle.Watcher{Exists: true, Runs: true, Ready: true, StartedAt: ago(60), Lasts: 5 * time.Minute}
	unready := change(ready, func(w *lifecycle.Watcher) { w.Ready = false })
	idle := change(unready, func(w *lifecycle.Watcher) {
		w.Idle, w.SaidAt, w.StartedAt, w.LastUsed = true, ago(2), ago(2), ago(7)
	})
	never := change(idle, func(w *lifecycle.Watcher) { w.LastUsed = time.Time{} })
	returned := change(idle, func(w *lifecycle.Watcher) { w.Ready, w.UsedSince = true, true })
	usedSince := change(idle, func(w *lifecycle.Watcher) { w.UsedSince = true })
	unsure := change(idle, func(w *lifecycle.Watcher) { w.Unsure = true })
	ahead := change(idle, func(w *lifecycle.Watcher) { w.LastUsed = ago(-60) })
	restarting := change(unready, func(w *lifecycle.Watcher) { w.Runs, w.StartedAt = false, time.Time{} })
	outdated := func(w lifecycle.Watcher) lifecycle.Watcher {
		return change(w, func(w *lifecycle.Watcher) { w.Outdated = true })
	}
	nothingListens := change(ready, func(w *lifecycle.Watcher) { w.NothingListens = true })
	fresh := change(unready, func(w *lifecycle.Watcher) { w.StartedAt = ago(1) })
	young := change(ready, func(w *lifecycle.Watcher) { w.StartedAt = ago(11) })
	used := func(minutes int) lifecycle.Activity {
		return lifecycle.Activity{Use: lifecycle.InUse, Last: ago(minutes)}
	}
	unused := func(minutes int) lifecycle.Activity {
		return lifecycle.Activity{Use: lifecycle.Idle, Last: ago(minutes)}
	}
	untold := func(minutes int) lifecycle.Activity { return lifecycle.Activity{Last: ago(minutes)} }
	for name, test := range map[string]struct {
		watcher      lifecycle.Watcher
		before, want lifecycle.Activity
	}{
		"none":                                 {lifecycle.Watcher{}, used(9), untold(9)},
		"W81: nothing listens":                 {nothingListens, used(9), untold(9)},
		"somebody comes":                       {returned, unused(30), used(0)},
		"and stays":                            {ready, used(9), used(9)},
		"nobody is left":                       {idle, used(9), unused(7)},
		"nobody returns":                       {idle, unused(7), unused(7)},
		"a heartbeat was later":                {idle, used(6), unused(6)},
		"while it starts again":                {change(idle, func(w *lifecycle.Watcher) { w.Runs = false }), used(9), unused(7)},
		"by a clock that is ahead":             {ahead, used(90), unused(5)},
		"W104: unready says nothing":           {unready, used(9), used(9)},
		"W104: nor at first":                   {unready, lifecycle.Activity{}, lifecycle.Activity{Use: lifecycle.InUse}},
		"W104: nor of one that is idle":        {unready, unused(9), unused(9)},
		"W104: nor a restart":                  {restarting, used(9), used(9)},
		"W104: nor after a later use":          {usedSince, unused(9), used(9)},
		"W104: nor if that is not seen":        {unsure, used(1), used(1)},
		"said of a Pod that is not ready":      {unsure, used(9), unused(7)},
		"D15: a fresh start":                   {fresh, lifecycle.Activity{}, lifecycle.Activity{Use: lifecycle.InUse}},
		"used since its start":                 {ready, used(90), used(0)},
		"W96: not certainly":                   {young, used(90), used(90)},
		"W96: started, and not used":           {never, used(90), unused(90)},
		"a restart of an idle one":             {fresh, unused(9), unused(9)},
		"the image is not pulled yet":          {restarting, lifecycle.Activity{}, lifecycle.Activity{Use: lifecycle.InUse}},
		"W103: idle by an earlier spec":        {outdated(idle), used(9), untold(7)},
		"W103: and still":                      {outdated(idle), untold(7), untold(7)},
		"W103: in use by an earlier spec":      {outdated(ready), used(9), used(9)},
		"W103: nothing is known by either one": {outdated(unready), unused(9), used(9)},
	} {
		if diff := cmp.Diff(test.want, test.watcher.Next(test.before, noon)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	for _, w := range []lifecycle.Watcher{unready, restarting} {
		if w.Answers(noon) {
			t.Errorf("it answers: %+v", w)
		}
	}
	for _, w := range []lifecycle.Watcher{ready, idle, returned, fresh} {
		if !w.Answers(noon) {
			t.Errorf("it does not answer: %+v", w)
		}
	}
}

// W109: what was never used counts from the first start in which that could be seen, whatever starts it later.
func TestUnused(t *testing.T) {
	start := noon.Add(-time.Hour)
	watcher := lifecycle.Watcher{Exists: true, Runs: true, Idle: true, SaidAt: start.Add(5 * time.Minute), Lasts: 5 * time.Minute}
	later := watcher
	later.SaidAt = noon
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
					watcher.Idle, watcher.SaidAt, watcher.StartedAt = true, unready, unready
				}
				known = watcher.Next(known, now)
				if unused = watcher.Unused(unused, known); first.IsZero() && known.Use == lifecycle.Idle {
					first = unready.Add(-watcher.Lasts)
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
// watcher that has said so makes a Workspace idle, and a manager that looks twice finds the same.
func TestAnyWatcher(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := func(label string) time.Time {
			return noon.Add(time.Duration(rapid.IntRange(-90, 90).Draw(t, label)) * time.Minute)
		}
		flag := func(label string) bool { return rapid.Bool().Draw(t, label) }
		watcher := lifecycle.Watcher{
			Exists: flag("exists"), Runs: flag("runs"), Ready: flag("ready"), NothingListens: flag("nothingListens"), Idle: flag("idle"), Outdated: flag("outdated"),
			UsedSince: flag("used since"), Unsure: flag("unsure"), SaidAt: moment("said"), LastUsed: moment("used"), StartedAt: moment("started"), Lasts: 5 * time.Minute,
		}
		before := lifecycle.Activity{Use: rapid.SampledFrom([]lifecycle.Use{lifecycle.Untold, lifecycle.InUse, lifecycle.Idle}).Draw(t, "before")}
		if rapid.Bool().Draw(t, "was used") {
			before.Last = noon.Add(-time.Duration(rapid.IntRange(0, 90).Draw(t, "last")) * time.Minute)
		}
		after := watcher.Next(before, noon)
		const certain = 12 * time.Minute
		switch again := watcher.Next(after, noon.Add(time.Second)); {
		case after.Last.After(noon) || after.Last.Before(before.Last):
			t.Fatalf("last used at %v, before at %v", after.Last, before.Last)
		case after.Use == lifecycle.Idle && before.Use != lifecycle.Idle && (!watcher.Idle || watcher.Outdated):
			t.Fatal("idle, and nobody says so")
		case after.Use != lifecycle.InUse && watcher.Exists && !watcher.NothingListens && !watcher.Idle && before.Use != lifecycle.Idle:
			t.Fatal("what is not known does not count as used")
		case again.Use != after.Use, !again.Last.Equal(after.Last) && noon.Before(watcher.StartedAt.Add(certain)) == noon.Add(time.Second).Before(watcher.StartedAt.Add(certain)):
			t.Fatalf("first %+v, then %+v", after, again)
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
