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
	return &activity.Watch{Ports: []uint16{8080}, Lasts: lasts, IgnoreShorter: 10 * seconds}
}

// step is one sample, and what follows.
type step struct {
	at      time.Duration
	sockets []activity.Socket
	cpu     time.Duration
	want    bool
}

func TestWatch(t *testing.T) {
	none, open := []activity.Socket{listener}, []activity.Socket{listener, browser}
	busy := watch()
	busy.CPUPercent = 10
	processes := func() *activity.Watch { return &activity.Watch{CPUPercent: 10, Lasts: lasts} }
	for name, test := range map[string]struct {
		watch *activity.Watch
		steps []step
	}{
		"nobody ever comes": {watch(), []step{{0, none, 0, true}, {299 * seconds, none, 0, true}, {300 * seconds, none, 0, false}}},
		"somebody comes and leaves": {watch(), []step{
			{0, none, 0, true}, {300 * seconds, none, 0, false}, {305 * seconds, open, 0, false}, {310 * seconds, open, 0, false}, {315 * seconds, open, 0, true},
			{3600 * seconds, open, 0, true}, {3899 * seconds, none, 0, true}, {3900 * seconds, none, 0, false},
		}},
		"W80: a probe at each look": {watch(), []step{
			{0, none, 0, true}, {300 * seconds, []activity.Socket{listener, probe}, 0, false}, {305 * seconds, none, 0, false},
			{310 * seconds, []activity.Socket{listener, probe}, 0, false}, {320 * seconds, []activity.Socket{listener, browser}, 0, false},
		}},
		"W81: nothing listens, so it is not idle": {watch(), []step{{0, nil, 0, true}, {time.Hour, nil, 0, true}, {time.Hour + 299*seconds, none, 0, true}, {time.Hour + 300*seconds, none, 0, false}}},
		"a process computes":                      {busy, []step{{0, none, 0, true}, {400 * seconds, none, 41 * seconds, true}, {800 * seconds, none, 80 * seconds, false}}},
		"and nothing listens":                     {processes(), []step{{0, nil, 0, true}, {400 * seconds, nil, 39 * seconds, false}, {500 * seconds, nil, 50 * seconds, true}}},
		"processes have ended":                    {processes(), []step{{600 * seconds, nil, 0, true}, {1000 * seconds, nil, 0, false}}},
		"a short peak between two looks":          {processes(), []step{{0, nil, 0, true}, {5 * seconds, nil, 5 * seconds, true}, {300 * seconds, nil, 6 * seconds, false}}},
		"the same one, as it was counted":         {&activity.Watch{CPUPercent: 1, Lasts: lasts}, []step{{0, nil, 0, true}, {5 * seconds, nil, 5 * seconds, true}, {300 * seconds, nil, 6 * seconds, true}}},
	} {
		for _, step := range test.steps {
			if got := test.watch.Used(activity.Sample{At: step.at, Sockets: step.sockets, CPU: step.cpu}); got != step.want {
				t.Errorf("%s: at %s: %v", name, step.at, got)
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
			if got, want := w.Used(sample), used(all); got != want {
				t.Fatalf("at %s: %v, want %v", at, got, want)
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

// W81: a run ends when something begins to listen, or has ceased to, but only the first one soon.
func TestTurns(t *testing.T) {
	none, open := []activity.Socket(nil), []activity.Socket{listener}
	with := func(nothingListens, first bool) *activity.Watch {
		w := watch()
		w.NothingListens, w.First = nothingListens, first
		return w
	}
	computes := with(false, true)
	computes.CPUPercent = 5
	for name, test := range map[string]struct {
		watch *activity.Watch
		steps []step
	}{
		"nothing ever listens":     {with(false, true), []step{{0, none, 0, false}, {299 * seconds, none, 0, false}, {300 * seconds, none, 0, true}}},
		"something does late":      {with(false, true), []step{{0, none, 0, false}, {299 * seconds, open, 0, false}, {598 * seconds, none, 0, false}, {599 * seconds, none, 0, true}}},
		"CPU tells":                {computes, []step{{0, none, 0, false}, {time.Hour, none, 0, false}}},
		"still nothing":            {with(true, false), []step{{0, none, 0, false}, {time.Hour, none, 0, false}}},
		"something after all":      {with(true, false), []step{{0, none, 0, false}, {599 * seconds, open, 0, false}, {600 * seconds, open, 0, true}}},
		"and then nothing again":   {with(false, false), []step{{0, open, 0, false}, {5 * seconds, none, 0, false}, {599 * seconds, none, 0, false}, {600 * seconds, none, 0, true}}},
		"something all the time":   {with(false, false), []step{{0, open, 0, false}, {time.Hour, open, 0, false}, {2 * time.Hour, open, 0, false}}},
		"something from the start": {with(true, false), []step{{0, open, 0, false}, {600 * seconds, open, 0, true}}},
	} {
		for _, step := range test.steps {
			sample := activity.Sample{At: step.at, Sockets: step.sockets}
			test.watch.Used(sample)
			if got := test.watch.Turns(sample); got != step.want {
				t.Errorf("%s: at %s: %v", name, step.at, got)
			}
		}
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
