package activity_test

import (
	"testing"
	"testing/fstest"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/activity"
)

const (
	seconds = time.Second
	lasts   = 5 * time.Minute
)

var (
	listener = activity.Socket{Port: 8080, Local: "0:1F90", Remote: "0:0", Listens: true}
	browser  = activity.Socket{Port: 8080, Local: "1:1F90", Remote: "2:D2F0"}
	probe    = activity.Socket{Port: 8080, Local: "1:1F90", Remote: "3:AAAA"}
)

func watch() *activity.Watch {
	return &activity.Watch{Ports: []uint16{8080}, Lasts: lasts, IgnoreShorter: 10 * seconds, First: true}
}

// step is one sample, and what follows.
type step struct {
	at      time.Duration
	sockets []activity.Socket
	cpu     time.Duration
	want    bool
}

func (s step) sample() activity.Sample {
	return activity.Sample{At: s.at, Sockets: s.sockets, CPU: s.cpu}
}

// between looks each minute after one sample and before the next. Nothing changes but the CPU.
func between(w *activity.Watch, from, to activity.Sample) {
	for at := from.At + time.Minute; at < to.At; at += time.Minute {
		share := float64(at-from.At) / float64(to.At-from.At)
		w.Look(activity.Sample{At: at, Sockets: from.Sockets, CPU: from.CPU + time.Duration(share*float64(to.CPU-from.CPU))})
	}
}

func TestWatch(t *testing.T) {
	none, open := []activity.Socket{listener}, []activity.Socket{listener, browser}
	busy := watch()
	busy.CPUPercent = 10
	processes := func() *activity.Watch { return &activity.Watch{CPUPercent: 10, Lasts: lasts, First: true} }
	for name, test := range map[string]struct {
		watch *activity.Watch
		steps []step
	}{
		"nobody ever comes": {watch(), []step{{0, none, 0, true}, {299 * seconds, none, 0, true}, {300 * seconds, none, 0, false}}},
		"somebody comes and leaves": {watch(), []step{
			{0, none, 0, true}, {300 * seconds, none, 0, false}, {305 * seconds, open, 0, false}, {310 * seconds, open, 0, false}, {315 * seconds, open, 0, true},
			{3600 * seconds, open, 0, true}, {3601 * seconds, none, 0, true}, {3899 * seconds, none, 0, true}, {3900 * seconds, none, 0, false},
		}},
		"W80: a probe at each look": {watch(), []step{
			{0, none, 0, true}, {300 * seconds, []activity.Socket{listener, probe}, 0, false}, {305 * seconds, none, 0, false},
			{310 * seconds, []activity.Socket{listener, probe}, 0, false}, {320 * seconds, []activity.Socket{listener, browser}, 0, false},
		}},
		"W81: nothing listens, so it is not idle": {watch(), []step{{0, nil, 0, true}, {time.Hour, nil, 0, true}, {time.Hour + seconds, none, 0, true}, {time.Hour + 299*seconds, none, 0, true}, {time.Hour + 300*seconds, none, 0, false}}},
		"a process computes":                      {busy, []step{{0, none, 0, true}, {400 * seconds, none, 41 * seconds, true}, {800 * seconds, none, 80 * seconds, false}}},
		"and nothing listens":                     {processes(), []step{{0, nil, 0, true}, {400 * seconds, nil, 39 * seconds, false}, {500 * seconds, nil, 50 * seconds, true}}},
		"processes have ended":                    {processes(), []step{{600 * seconds, nil, 0, true}, {1000 * seconds, nil, 0, false}}},
		"a short peak between two looks":          {processes(), []step{{0, nil, 0, true}, {5 * seconds, nil, 5 * seconds, true}, {300 * seconds, nil, 6 * seconds, false}}},
		"the same one, as it was counted":         {&activity.Watch{CPUPercent: 1, Lasts: lasts, First: true}, []step{{0, nil, 0, true}, {5 * seconds, nil, 5 * seconds, true}, {300 * seconds, nil, 6 * seconds, true}}},
	} {
		for i, step := range test.steps {
			if i > 0 {
				between(test.watch, test.steps[i-1].sample(), step.sample())
			}
			if got, _ := test.watch.Look(step.sample()); (got != activity.Idle) != step.want {
				t.Errorf("%s: at %s: %s", name, step.at, got)
			}
		}
	}
}

// An oracle that remembers all samples: a connection counts that was in all of them for long enough.
func TestWatchAgainstAnOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := watch()
		var all []activity.Sample
		at := time.Duration(0)
		for range rapid.IntRange(1, 60).Draw(t, "samples") {
			sample := activity.Sample{At: at, Sockets: []activity.Socket{listener}}
			for _, client := range []activity.Socket{browser, probe} {
				if rapid.IntRange(0, 3).Draw(t, "open") == 0 {
					sample.Sockets = append(sample.Sockets, client)
				}
			}
			all = append(all, sample)
			if got, _ := w.Look(sample); (got == activity.Used) != used(all) {
				t.Fatalf("at %s: %s", at, got)
			}
			at += time.Duration(rapid.IntRange(1, 90).Draw(t, "seconds")) * seconds
		}
	})
}

func used(all []activity.Sample) bool {
	last, now := all[0].At, all[len(all)-1].At
	for i := range all {
		for _, socket := range all[i].Sockets {
			first := i
			for first > 0 && has(all[first-1], socket) {
				first--
			}
			if !socket.Listens && first < i && all[i].At-all[first].At >= 10*seconds {
				last = all[i].At
			}
		}
	}
	return now-last < lasts
}

func has(sample activity.Sample, socket activity.Socket) bool {
	for _, other := range sample.Sockets {
		if other == socket {
			return true
		}
	}
	return false
}

// W81, W104: a run ends to say that the Workspace is idle, or that nothing listens or something after all; only the first one soon.
// A use that returns is not said.
func TestWhatARunSays(t *testing.T) {
	none, open := []activity.Socket(nil), []activity.Socket{listener}
	used := []activity.Socket{listener, browser}
	after := func(state activity.State) *activity.Watch {
		w := watch()
		w.State, w.First = state, false
		return w
	}
	computes := watch()
	computes.CPUPercent = 5
	type look struct {
		at      time.Duration
		sockets []activity.Socket
		want    activity.State
		says    string
	}
	for name, test := range map[string]struct {
		watch *activity.Watch
		looks []look
	}{
		"nobody comes":             {watch(), []look{{0, open, "in use", ""}, {299 * seconds, open, "in use", ""}, {301 * seconds, open, "idle", "idle: not used for 5m1s"}}},
		"somebody leaves":          {watch(), []look{{0, used, "in use", ""}, {20 * seconds, used, "in use", ""}, {21 * seconds, open, "in use", ""}, {320 * seconds, open, "idle", "idle: last used 5m0s ago"}}},
		"nothing ever listens":     {watch(), []look{{0, none, "in use", ""}, {299 * seconds, none, "in use", ""}, {300 * seconds, none, "silent", "nothing listens"}}},
		"something does late":      {watch(), []look{{299 * seconds, open, "in use", ""}, {300 * seconds, none, "in use", ""}, {598 * seconds, none, "in use", ""}, {599 * seconds, none, "silent", "nothing listens"}}},
		"CPU tells":                {computes, []look{{0, none, "in use", ""}, {300 * seconds, none, "idle", "idle: not used for 5m0s"}}},
		"still nothing":            {after("silent"), []look{{0, none, "silent", ""}, {time.Hour, none, "silent", ""}}},
		"something after all":      {after("silent"), []look{{0, none, "silent", ""}, {599 * seconds, none, "silent", ""}, {600 * seconds, open, "silent", ""}, {660 * seconds, open, "in use", "something listens"}}},
		"and nobody comes":         {after("silent"), []look{{0, none, "silent", ""}, {300 * seconds, open, "silent", ""}, {660 * seconds, open, "idle", "idle: not used for 11m0s"}}},
		"a later run is not short": {after("in use"), []look{{0, open, "in use", ""}, {659 * seconds, open, "in use", ""}, {660 * seconds, open, "idle", "idle: not used for 11m0s"}}},
		"still idle":               {after("idle"), []look{{0, open, "idle", ""}, {time.Hour, open, "idle", ""}}},
		"somebody returns":         {after("idle"), []look{{0, open, "idle", ""}, {60 * seconds, used, "idle", ""}, {70 * seconds, used, "in use", ""}, {71 * seconds, open, "in use", ""}, {400 * seconds, open, "in use", ""}, {660 * seconds, open, "idle", "idle: last used 9m50s ago"}}},
		"its program has ended":    {after("idle"), []look{{0, none, "idle", ""}, {400 * seconds, none, "idle", ""}, {660 * seconds, none, "silent", "nothing listens"}}},
		"a node that was slow":     {watch(), []look{{0, open, "in use", ""}, {-1, nil, "", ""}, {time.Hour, open, "in use", ""}, {time.Hour + 299*seconds, open, "in use", ""}, {time.Hour + 300*seconds, open, "idle", "idle: not used for 1h5m0s"}}},
		"nothing is known":         {after(""), []look{{0, open, "in use", ""}, {400 * seconds, open, "in use", ""}, {660 * seconds, open, "idle", "idle: not used for 11m0s"}}},
	} {
		for i, look := range test.looks {
			if look.at < 0 {
				continue // it does not look until the next time
			}
			if i > 0 && test.looks[i-1].at >= 0 {
				before := test.looks[i-1]
				between(test.watch, activity.Sample{At: before.at, Sockets: before.sockets}, activity.Sample{At: look.at})
			}
			state, ends := test.watch.Look(activity.Sample{At: look.at, Sockets: look.sockets})
			says := ""
			if ends {
				says = test.watch.Word(look.at).String()
			}
			if state != look.want || says != look.says {
				t.Errorf("%s: at %s: %s, and says %q", name, look.at, state, says)
			}
		}
	}
}

// While nothing can be seen, nobody becomes idle.
func TestBlind(t *testing.T) {
	w, open := watch(), []activity.Socket{listener}
	w.Look(activity.Sample{Sockets: open})
	for at := time.Minute; at <= time.Hour; at += time.Minute {
		if got := w.Blind(at); got != activity.Used {
			t.Fatalf("at %s: %s", at, got)
		}
	}
	for at := time.Hour; at <= time.Hour+5*time.Minute; at += time.Minute {
		if got, _ := w.Look(activity.Sample{At: at, Sockets: open}); (got == activity.Idle) != (at == time.Hour+5*time.Minute) {
			t.Errorf("at %s: %s", at, got)
		}
	}
	if got := watch().Blind(0); got != activity.Used {
		t.Errorf("from the start: %s", got)
	}
}

func TestCPU(t *testing.T) {
	stat := func(comm, times string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("7 " + comm + " S 1 7 7 0 -1 4194560 1 2 3 4 " + times + " 20 0 1 0 100 1000 10\n")}
	}
	proc := fstest.MapFS{
		"1/stat": stat("(sh)", "100 50 30 20"), "22/stat": stat("(a) S 9 (b)", "1 0 0 0"), "333/stat": stat("(kyklos)", "9999 0 0 0"),
		"44/comm": {Data: []byte("ended")}, "self/stat": stat("(x)", "7 7 7 7"), "meminfo": {Data: []byte("x")},
	}
	if used, err := activity.CPU(proc, 333); used != 2010*time.Millisecond || err != nil {
		t.Errorf("%s, %v", used, err)
	}
	for name, text := range map[string]string{"short": "7 (sh) S 1", "no number": "7 (sh) S 1 7 7 0 -1 4194560 1 2 3 4 1 2 x 4 20 0"} {
		if _, err := activity.CPU(fstest.MapFS{"1/stat": {Data: []byte(text)}}, 2); err == nil {
			t.Errorf("%s: it passes", name)
		}
	}
}
