package lifecycle_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/lifecycle"
)

// chooser picks one of n.
type chooser func(n int) int

// history is one run of the world; the chooser picks what happens.
type history struct {
	*world
	pick        chooser
	controllers [2]controller
	caches      []snapshot
	firstSeen   map[string]time.Time
	sets        bool // the controllers' clock is set now and then
	backups     bool // of the volume are taken and brought back
	hides       bool // archives are away for a while
}

func newHistory(decide engine, pick chooser) *history {
	h := &history{
		world: newWorld(), pick: pick, firstSeen: map[string]time.Time{},
		controllers: [2]controller{{name: "A", engine: decide}, {name: "B", engine: decide}},
	}
	if pick(3) == 1 {
		h.precede()
	}
	return h
}

// seeded picks at random, the same for the same seed.
func seeded(seed uint64) chooser { return rand.New(rand.NewPCG(seed, 1)).IntN }

// run takes random steps, and then recovers. It returns the first violation.
func (h *history) run(steps int) string {
	for range steps {
		h.step()
		if h.wrong != "" {
			return h.wrong
		}
	}
	h.recover()
	return h.wrong
}

// step runs one random event.
func (h *history) step() {
	h.caches = append(h.caches, h.snapshot())
	h.caches = h.caches[max(0, len(h.caches)-6):]
	h.now = h.now.Add(time.Duration(h.pick(4)) * time.Second)
	switch c := &h.controllers[h.pick(2)]; h.pick(23) {
	case 0, 1, 2, 3, 4, 5, 6:
		cached := h.caches[len(h.caches)-1]
		if h.pick(4) == 0 {
			cached = h.caches[h.pick(len(h.caches))]
		}
		if c.pending == nil {
			c.decide(h.world, cached)
		}
		if h.pick(3) > 0 {
			c.commit(h.world)
		}
	case 7, 8:
		c.commit(h.world)
	case 9:
		c.pending = nil // a crash between deciding and writing
	case 10, 11, 12:
		h.kubelet()
	case 13, 14, 15:
		h.moveOne()
	case 16:
		if h.onVolume() && !h.vol.foreign {
			h.write()
		}
	case 17:
		h.person()
	case 18:
		h.clock()
	case 19:
		h.trouble()
	default: // quiet times, so that histories get far
		for range h.pick(20) {
			h.controllers[0].decide(h.world, h.snapshot())
			h.progress()
			h.now = h.now.Add(2 * time.Second)
		}
	}
	if h.saved.Operation.PointOfNoReturn && h.pick(12) == 0 { // a short and critical phase
		h.spoil(place(h.saved.Archive.Store, h.saved.ArchiveKey))
	}
	if h.backups && h.pick(10) == 0 {
		h.backUp()
	}
	if h.hides && h.pick(8) == 0 {
		h.hide()
	}
	h.check("a step")
}

// moveOne advances one mover; some fail, some become zombies.
func (h *history) moveOne() {
	if len(h.zombies) > 0 && h.pick(3) == 0 {
		h.mover(h.zombies[h.pick(len(h.zombies))], false)
		return
	}
	if len(h.jobs) == 0 {
		return
	}
	j := h.jobs[h.pick(len(h.jobs))]
	if j.State == lifecycle.JobTerminating && h.pick(2) == 0 {
		zombie := *j
		zombie.State = lifecycle.JobRunning
		h.zombies = append(h.zombies, &zombie) // its node is disconnected, and it continues
		h.logf("%s becomes a zombie", j.Name)
	}
	h.mover(j, h.pick(12) == 0)
}

// clocks are the errors of clocks: mostly none, seconds, time zones, a day, an empty battery.
var clocks = []time.Duration{0, 0, 0, -time.Second, time.Second, -time.Hour, time.Hour, -24 * time.Hour, 24 * time.Hour, -years, years}

const years = 10 * 365 * 24 * time.Hour

// clock lets time pass, with everything that depends on it.
func (h *history) clock() {
	jumps := []time.Duration{10 * time.Second, time.Minute, 6 * time.Minute, 40 * time.Minute, 3 * time.Hour, 25 * time.Hour}
	h.now = h.now.Add(jumps[h.pick(len(jumps))])
	if h.sets && h.pick(2) == 0 {
		h.moved = clocks[h.pick(len(clocks))]
		h.logf("the controllers' clock is off by %s", h.moved)
	}
	idle := lifecycle.DecideIdle(lifecycle.IdleInput{
		Now: h.now.Add(h.moved), Desired: h.ws.Desired, Status: h.saved, Limit: lifecycle.TraitOf(h.saved.Operation.Type).Limit, HasStore: true, StandbyTTL: 5 * time.Minute, ArchiveTTL: 24 * time.Hour,
		Pause: h.ws.Pause, Deleting: h.ws.Deleting, Heartbeats: true,
	})
	if idle.Desired != "" {
		h.want(idle.Desired)
	}
	h.firstSeen = h.collect(h.firstSeen)
}

// repoint lets a user change the Secret to another store, with or without a copy of the archives.
func (h *history) repoint() {
	from, to := h.store, map[string]string{"x": "y", "y": "x"}[h.store]
	if h.store = to; h.pick(3) == 0 {
		for at, o := range maps.Clone(h.objects) {
			if key := strings.TrimPrefix(at, "y:"); at == place(from, key) {
				twin := *o
				h.objects[place(to, key)] = &twin
			}
		}
		for at, when := range maps.Clone(h.names) {
			if key := strings.TrimPrefix(at, "y:"); at == place(from, key) {
				h.names[place(to, key)] = when
			}
		}
	}
	h.logf("the Secret names the store %s", to)
	h.destroyed() // a damaged archive was copied over a good one, or the key or the status was removed and nothing leads to the other store
	if h.saved.ArchiveKey == "" && (h.vol == nil || h.vol.foreign || h.vol.marker.Content == "") {
		h.rebase = true // the home is known from the store alone: it is what this one has
	}
}

// want writes the desired state.
func (h *history) want(state lifecycle.State) {
	h.logf("desired: %s", state)
	h.ws.Desired = state
	h.ws.Generation++
	h.rv++
}

// TestNothingIsLost runs random histories: no last written version is lost, no user sees another one, and
// when trouble ends the Workspace converges to the desired state, and nothing is written any more.
func TestNothingIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// One seed for all picks: rapid's own integers are mostly small, and its draws would fill the report.
		seed, steps := rapid.Uint64().Draw(t, "seed"), rapid.IntRange(20, 250).Draw(t, "steps")
		for range 40 { // with rapid's usual 100 checks, 4000 histories
			h := newHistory(lifecycle.Decide, seeded(seed))
			h.sets, h.backups, h.hides = seed%2 == 0, seed%3 > 0, seed%5 < 2
			if wrong := h.run(steps); wrong != "" {
				t.Fatalf("seed %d: %s\n%s", seed, wrong, h.transcript())
			}
			seed++
		}
	})
}

// transcript returns the log, and the state at the end.
func (h *history) transcript() string {
	return strings.Join(h.log, "\n") + fmt.Sprintf("\nstatus %+v\nseen %+v\nwritten %d", h.saved, h.seen(), h.written)
}
