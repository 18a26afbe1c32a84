package lifecycle_test

import (
	"slices"
	"strings"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

// engine is Decide or a mutant of it.
type engine func(lifecycle.Input) lifecycle.Decision

// snapshot is the content of a cache at some time.
type snapshot struct {
	ws    lifecycle.Workspace
	rv    int
	saved lifecycle.Status
	seen  lifecycle.Observation
}

func (w *world) snapshot() snapshot {
	return snapshot{w.ws, w.rv, w.saved, w.seen()}
}

// deciding are the failures after which a person decides what happens to data. After all others the Workspace continues by itself
// (W71): nobody helps it in recover.
var deciding = map[lifecycle.Code]bool{
	lifecycle.CodeVolumeLost: true, lifecycle.CodeArchiveLost: true, lifecycle.CodeArchiveCorrupt: true, lifecycle.CodeArchiveElsewhere: true,
	lifecycle.CodeVolumeForeign: true, lifecycle.CodeVolumeUnknown: true, lifecycle.CodeVolumeWaste: true,
}

// controller is one of several replicas that believe to be the leader. It executes a decision later, if it
// does not crash before.
type controller struct {
	name    string
	engine  engine
	pending *pending
	code    lifecycle.Code // of its last decision
}

// pending is a write in flight.
type pending struct {
	from     int // the resourceVersion that was read
	decision lifecycle.Decision
	input    lifecycle.Input
	since    time.Time
}

// input asks the engine about a snapshot.
func (w *world) input(s snapshot) lifecycle.Input {
	return lifecycle.Input{
		Now: w.now.Add(w.moved), NewID: w.id(), Workspace: s.ws, Status: s.saved, Observed: s.seen,
		Limits: lifecycle.Limits{OwnerFull: w.full, NamespaceFull: w.full, AllFull: w.full, MoversFull: w.full},
	}
}

// decide repeats the decision until there is something to do: cached, then live, then with the store.
func (c *controller) decide(w *world, cached snapshot) {
	c.pending = nil
	if w.gone {
		return
	}
	from, in := cached.rv, w.input(cached)
	for range 6 {
		d := c.engine(in)
		c.code = d.Code
		switch d.Act.Kind {
		case lifecycle.ActReadLive, lifecycle.ActReadPods:
			s := w.snapshot()
			archive, found, pods := in.Archive, in.Newest, d.Act.Kind == lifecycle.ActReadPods
			from, in = s.rv, w.input(s)
			in.Archive, in.Newest, in.Observed.Live, in.Observed.PodsLive = archive, found, true, pods
			continue
		case lifecycle.ActVerify:
			if in.Archive.Key == d.Act.Key {
				w.fault("it verifies %s again and again", d.Act.Key)
				return
			}
			in.Archive = w.verify(d.Act.Key)
			continue
		case lifecycle.ActFindArchive:
			if in.Newest.Verdict != "" {
				w.fault("it looks for an archive again and again")
				return
			}
			in.Newest = w.find()
			continue
		}
		if d.Status != in.Status && d.Act.Kind != lifecycle.ActNone {
			w.fault("%s writes and acts at once", d.Rule)
		}
		if d.Status != in.Status || d.Act.Kind != lifecycle.ActNone {
			c.pending = &pending{from, d, in, w.now}
		} else if in.Observed.Live && from == w.rv {
			w.ws.ArchiveReady = d.Conditions.ArchiveReady.Status
		}
		return
	}
	w.fault("it looks for ever")
}

// commit executes the decision. A status is written only with the resourceVersion that was read.
func (c *controller) commit(w *world) {
	p := c.pending
	c.pending = nil
	// A client gives up, and a leader loses its lease, after a while.
	if p == nil || w.gone || !w.apiUp || w.now.Sub(p.since) > 15*time.Second {
		return
	}
	if w.refuse && strings.HasPrefix(string(p.decision.Act.Kind), "Create") {
		p.input.Rejected = lifecycle.Rejection{Reason: lifecycle.ActionFailed, Final: w.ids%5 == 0, Code: lifecycle.CodeRefused}
		p.decision = c.engine(p.input)
	}
	if p.decision.Act.Kind != lifecycle.ActNone {
		w.logf("%s: %s: %s %s", c.name, p.decision.Rule, p.decision.Act.Kind, p.decision.Act.UID)
		if w.vol != nil && p.decision.Act.Kind == lifecycle.ActDeletePod && !p.since.After(w.vol.dying) {
			w.excused = true // the person came between
		}
		if p.decision.Act.Kind == lifecycle.ActDeleteVolume && !p.since.After(w.spoilt) {
			w.excused = true // likewise
		}
		w.apply(p.decision.Act)
	} else if p.from == w.rv {
		w.rv++
		before := w.saved
		w.saved, w.ws.ArchiveReady = p.decision.Status, p.decision.Conditions.ArchiveReady.Status
		w.logf("%s: %s: %s/%s -> %s/%s %s", c.name, p.decision.Rule, before.Phase, before.Operation.Type,
			w.saved.Phase, w.saved.Operation.Type, p.decision.Code)
		if w.saved.Phase == lifecycle.Failed && w.saved.Operation.Type != lifecycle.None {
			w.fault("ERROR with an operation")
		}
		if w.saved.Phase == lifecycle.Failed && before.Phase != lifecycle.Failed && !deciding[w.saved.Error.Code] {
			w.fault("ERROR for %s, which nobody has to decide", w.saved.Error.Code)
		}
		if lost := w.saved.Error.Reason == lifecycle.DataLost; lost && (w.saved.Phase == lifecycle.Failed || w.saved.Operation.Type == lifecycle.Removing) && !w.damaged {
			w.fault("a false alarm: %s", w.saved.Error.Code)
		}
		if before.Volume.UID != "" && w.saved.Volume.UID == "" && p.decision.Code == lifecycle.CodeLossAccepted ||
			before.ArchiveKey != "" && w.saved.ArchiveKey == "" {
			w.rebase = true
		}
	}
	w.check(c.name + " " + p.decision.Rule)
}

// collect is one cycle of the archive collection, done at once.
func (w *world) collect(firstSeen map[string]time.Time) map[string]time.Time {
	if !w.storeUp || !w.bucket || !w.apiUp {
		return firstSeen
	}
	var objects []lifecycle.Object
	for at, o := range w.objects {
		objects = append(objects, lifecycle.Object{Key: strings.TrimPrefix(at, "y:"), Committed: o.marked != "", ModifiedAt: o.at, Kept: o.kept})
	}
	slices.SortFunc(objects, func(a, b lifecycle.Object) int { return a.ModifiedAt.Compare(b.ModifiedAt) })
	keepers := []lifecycle.Reference{{UID: "other"}}
	if !w.gone {
		keepers = append(keepers, lifecycle.Reference{
			UID: w.ws.UID, ArchiveKey: w.saved.ArchiveKey, Named: w.ws.RestoreFrom, Operation: w.saved.Operation.Type,
			OperationID: w.saved.Operation.ID, Failed: w.saved.Phase == lifecycle.Failed, Retain: 1,
		})
	}
	d := lifecycle.Collect(lifecycle.CollectInput{Now: w.now.Add(w.moved), Objects: objects, References: keepers, Synced: true, FirstSeen: firstSeen})
	for _, key := range d.Victims {
		w.logf("the collection deletes %s", key)
		for _, at := range []string{place("x", key), place("y", key)} {
			if o := w.objects[at]; o != nil && !o.kept { // each store has its own marks
				delete(w.objects, at)
			}
		}
	}
	w.check("the collection")
	return d.FirstSeen
}
