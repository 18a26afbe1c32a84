package chaos

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
)

// The steps of life by what happens in them.
const (
	provisioning = iota
	stopping
	archiving
	restoring
	starting
)

// outcome is what becomes of a Workspace.
type outcome int

const (
	recovers       outcome = iota // nothing is lost, and the step ends
	reportsLoss                   // the only copy is gone, and the status says so
	recoversOrLoss                // depends on whether the mover holds the volume when it is deleted
	warns                         // the process still holds the volume: it keeps running, with a warning
	warnsOrLoss                   // depends on whether the Pod is scheduled: a volume that no node has goes at once
)

// damage is a fault, and the step and moment of it.
type damage struct {
	name    string
	step    int
	trigger trigger
	fault   fault
	want    outcome
	some    bool // also with -crashes=some
}

var damages = []damage{
	{"no data before the volume goes", archiving, volumeAboutToGo, deleteObjects(""), recovers, true},
	{"no marker before the volume goes", archiving, volumeAboutToGo, deleteObjects(".meta"), recovers, false},
	{"cut data before the volume goes", archiving, volumeAboutToGo, rewriteObjects("", truncated), recovers, false},
	{"another marker before the volume goes", archiving, volumeAboutToGo, rewriteObjects(".meta", corrupted), recovers, false},
	{"no data before they are recorded", archiving, before("DELETE jobs"), deleteObjects(""), recovers, false},
	{"no marker before it is recorded", archiving, before("DELETE jobs"), deleteObjects(".meta"), recovers, false},
	{"cut data before they are recorded", archiving, before("DELETE jobs"), rewriteObjects("", truncated), recovers, false},
	{"no data", archiving, nil, deleteObjects(""), reportsLoss, false},
	{"no marker", archiving, nil, deleteObjects(".meta"), reportsLoss, false},
	{"cut data", archiving, nil, rewriteObjects("", truncated), reportsLoss, false},
	{"other data", archiving, nil, rewriteObjects("", corrupted), reportsLoss, true},
	{"another marker", archiving, nil, rewriteObjects(".meta", corrupted), reportsLoss, false},
	{"no volume in PROVISIONING", provisioning, after("POST persistentvolumeclaims"), deleteVolume, recovers, false},
	{"no volume in RUNNING", provisioning, nil, deleteVolume, warns, false},
	{"no volume in STOPPING", stopping, before("DELETE pods"), deleteVolume, reportsLoss, false},
	{"no volume in STANDBY", stopping, nil, deleteVolume, reportsLoss, true},
	{"no volume in ARCHIVING", archiving, before("POST jobs"), deleteVolume, reportsLoss, true},
	{"no volume while it is archived", archiving, after("POST jobs"), deleteVolume, recoversOrLoss, false},
	{"no volume once it is archived", archiving, before("DELETE jobs"), deleteVolume, recovers, true},
	{"no volume once that is recorded", archiving, volumeAboutToGo, deleteVolume, recovers, false},
	{"no volume in RESTORING", restoring, after("POST persistentvolumeclaims"), deleteVolume, recovers, false},
	{"no volume while it is restored", restoring, after("POST jobs"), deleteVolume, recovers, false},
	{"no volume once it is restored", restoring, after("PATCH persistentvolumeclaims"), deleteVolume, recovers, false},
	{"no volume in STANDBY again", restoring, nil, deleteVolume, reportsLoss, false},
	{"no volume before STARTING", starting, before("POST pods"), deleteVolume, reportsLoss, false},
	{"no volume in STARTING", starting, after("POST pods"), deleteVolume, warnsOrLoss, false},
}

// TestDamages deletes and damages volumes and archives at the worst moments. Kyklos finds the copy that is left. Where
// there is none, the Workspace reports it, and never runs with an empty or old home.
func TestDamages(t *testing.T) {
	c := newCohort(t, len(damages), store)
	p := &lossTest{cohort: c, todo: map[string]damage{}, done: map[string]bool{}}
	c.gate.seen = func(name string, m moment) {
		p.request(name, m)
		c.seen(name, m)
	}
	for i, d := range damages {
		if *crashes == "all" || d.some {
			p.todo[c.names[i]] = d
		}
	}
	c.start()
	for at := range starting + 1 {
		p.runStep(at)
	}
	for name, d := range p.todo {
		if !p.done[name] {
			t.Errorf("%s: never happened", d.name)
		}
		if d.want == reportsLoss { // it must not start
			life[starting].begin(c, name)
		}
	}
	for name, d := range p.todo {
		if d.want == reportsLoss {
			p.awaitOutcome(name, d, life[starting])
		}
		c.verify(name, d.name+", when asked to run")
	}
}

// lossTest injects the damages.
type lossTest struct {
	*cohort
	mu   sync.Mutex
	at   int
	todo map[string]damage
	done map[string]bool
}

// runStep takes the undamaged Workspaces through a step and injects its damages.
func (p *lossTest) runStep(at int) {
	p.Helper()
	p.mu.Lock()
	p.at = at
	p.mu.Unlock()
	var walking, harmed []string
	for name, d := range p.todo {
		switch {
		case d.step > at || d.step == at && d.trigger == nil:
			walking = append(walking, name)
		case d.step == at:
			harmed = append(harmed, name)
			life[at].begin(p.cohort, name)
		}
	}
	p.cohort.runStep(life[at], walking, nil)
	for _, name := range harmed {
		p.awaitOutcome(name, p.todo[name], life[at])
	}
	var after []string
	for _, name := range walking {
		if d := p.todo[name]; d.step == at {
			p.inject(name, d)
			life[at+1].begin(p.cohort, name)
			after = append(after, name)
		}
	}
	for _, name := range after {
		p.awaitOutcome(name, p.todo[name], life[at+1])
	}
}

// request injects the damage that a request triggers.
func (p *lossTest) request(name string, m moment) {
	p.mu.Lock()
	d, at := p.todo[name], p.at
	due := d.trigger != nil && d.step == at && !p.done[name]
	p.mu.Unlock()
	if due && d.trigger(p.cohort, name, m) {
		p.inject(name, d)
	}
}

func (p *lossTest) inject(name string, d damage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[name] = true
	if d.want == reportsLoss || d.want == recoversOrLoss || d.want == warnsOrLoss {
		p.ledger.allowLoss(name)
	}
	if err := d.fault(context.WithoutCancel(p.Context()), p.ledger, name); err != nil {
		p.Errorf("%s: %v", d.name, err)
	}
}

// awaitOutcome waits for the wanted outcome.
func (p *lossTest) awaitOutcome(name string, d damage, s step) {
	p.Helper()
	p.Eventually(d.name+", "+s.name, func() error {
		ws := p.named(name)
		p.Get(p.Namespace, name, ws)
		ready := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionReady)
		says := ws.Status.Phase == v1alpha1.PhaseError && ws.Status.Error.Reason == "DataLost"
		warned := ready != nil && ready.Reason == v1alpha1.ReasonVolumeTerminating
		gone := ready != nil && ready.Reason == v1alpha1.ReasonVolumeLost
		switch {
		case ws.Status.ObservedGeneration != ws.Generation:
		case (d.want == warns || d.want == warnsOrLoss) && warned,
			d.want == warnsOrLoss && (says || gone),
			(d.want == reportsLoss || d.want == recoversOrLoss) && says,
			(d.want == recovers || d.want == recoversOrLoss) && p.reached(name, s, ws):
			return nil
		}
		p.skipBackoff(ws)
		return fmt.Errorf("%s %+v", harness.Show(ws.Status), ready)
	})
	p.verify(name, d.name)
}
