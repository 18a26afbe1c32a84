package workspace

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

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

// outcome is what a Workspace comes to.
type outcome int

const (
	goesOn      outcome = iota // nothing is lost, and the step ends as it should
	lost                       // the only copy is gone, and it says so
	either                     // as the deletion and the mover that holds the volume meet
	warns                      // the process alone still holds the volume: it is left alone, and people are warned
	warnsOrLost                // as the deletion and the scheduler meet: a volume that no node has yet goes at once
)

// damage is one harm, and the step and moment at which it is done.
type damage struct {
	name string
	step int
	when when
	harm harm
	want outcome
	some bool // also in the bounded part
}

var damages = []damage{
	{"no data before the volume goes", archiving, condemned, remove(""), goesOn, true},
	{"no marker before the volume goes", archiving, condemned, remove(".meta"), goesOn, false},
	{"cut data before the volume goes", archiving, condemned, change("", half), goesOn, false},
	{"another marker before the volume goes", archiving, condemned, change(".meta", flipped), goesOn, false},
	{"no data before they are recorded", archiving, before("DELETE jobs"), remove(""), goesOn, false},
	{"no marker before it is recorded", archiving, before("DELETE jobs"), remove(".meta"), goesOn, false},
	{"cut data before they are recorded", archiving, before("DELETE jobs"), change("", half), goesOn, false},
	{"no data", archiving, nil, remove(""), lost, false},
	{"no marker", archiving, nil, remove(".meta"), lost, false},
	{"cut data", archiving, nil, change("", half), lost, false},
	{"other data", archiving, nil, change("", flipped), lost, true},
	{"another marker", archiving, nil, change(".meta", flipped), lost, false},
	{"no volume in PROVISIONING", provisioning, after("POST persistentvolumeclaims"), takeVolume, goesOn, false},
	{"no volume in RUNNING", provisioning, nil, takeVolume, warns, false},
	{"no volume in STOPPING", stopping, before("DELETE pods"), takeVolume, lost, false},
	{"no volume in STANDBY", stopping, nil, takeVolume, lost, true},
	{"no volume in ARCHIVING", archiving, before("POST jobs"), takeVolume, lost, true},
	{"no volume while it is archived", archiving, after("POST jobs"), takeVolume, either, false},
	{"no volume once it is archived", archiving, before("DELETE jobs"), takeVolume, goesOn, true},
	{"no volume once that is recorded", archiving, condemned, takeVolume, goesOn, false},
	{"no volume in RESTORING", restoring, after("POST persistentvolumeclaims"), takeVolume, goesOn, false},
	{"no volume while it is restored", restoring, after("POST jobs"), takeVolume, goesOn, false},
	{"no volume once it is restored", restoring, after("PATCH persistentvolumeclaims"), takeVolume, goesOn, false},
	{"no volume in STANDBY again", restoring, nil, takeVolume, lost, false},
	{"no volume before STARTING", starting, before("POST pods"), takeVolume, lost, false},
	{"no volume in STARTING", starting, after("POST pods"), takeVolume, warnsOrLost, false},
}

// TestDamages takes volumes and archives away, and spoils them, at the worst moments. What is left is
// found; where nothing is, the Workspace says so, and nothing runs on an empty home, or on an old one.
func TestDamages(t *testing.T) {
	c := newCrew(t, len(damages), store)
	p := &plot{crew: c, todo: map[string]damage{}, done: map[string]bool{}}
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
		p.through(at)
	}
	for name, d := range p.todo {
		if !p.done[name] {
			t.Errorf("%s: nobody did it", d.name)
		}
		if d.want == lost { // whoever asks for it gets what there is, which is nothing
			life[starting].begin(c, name)
		}
	}
	for name, d := range p.todo {
		if d.want == lost {
			p.ends(name, d, life[starting])
		}
		c.audit(name, d.name+", when it was to run")
	}
}

// plot is who is to be harmed.
type plot struct {
	*crew
	mu   sync.Mutex
	at   int
	todo map[string]damage
	done map[string]bool
}

// through takes all to whom nothing was done yet through a step, and does what is to be done in it.
func (p *plot) through(at int) {
	p.Helper()
	p.mu.Lock()
	p.at = at
	p.mu.Unlock()
	var walking, harmed []string
	for name, d := range p.todo {
		switch {
		case d.step > at || d.step == at && d.when == nil:
			walking = append(walking, name)
		case d.step == at:
			harmed = append(harmed, name)
			life[at].begin(p.crew, name)
		}
	}
	p.crew.through(life[at], walking, nil)
	for _, name := range harmed {
		p.ends(name, p.todo[name], life[at])
	}
	var after []string
	for _, name := range walking {
		if d := p.todo[name]; d.step == at {
			p.do(name, d)
			life[at+1].begin(p.crew, name)
			after = append(after, name)
		}
	}
	for _, name := range after {
		p.ends(name, p.todo[name], life[at+1])
	}
}

// request does what is to be done at it.
func (p *plot) request(name string, m moment) {
	p.mu.Lock()
	d, at := p.todo[name], p.at
	due := d.when != nil && d.step == at && !p.done[name]
	p.mu.Unlock()
	if due && d.when(p.crew, name, m) {
		p.do(name, d)
	}
}

func (p *plot) do(name string, d damage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[name] = true
	if d.want == lost || d.want == either || d.want == warnsOrLost {
		p.books.rob(name)
	}
	if err := d.harm(context.WithoutCancel(p.Context()), p.books, name); err != nil {
		p.Errorf("%s: %v", d.name, err)
	}
}

// ends waits until a Workspace has come to what is expected of it.
func (p *plot) ends(name string, d damage, s step) {
	p.Helper()
	p.eventually(d.name+", "+s.name, func() error {
		ws := p.named(name)
		p.must(admin.Get(p.Context(), client.ObjectKeyFromObject(ws), ws))
		ready := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionReady)
		says := ws.Status.Phase == v1alpha1.PhaseError && ws.Status.Error.Reason == "DataLost"
		warned := ready != nil && ready.Reason == v1alpha1.ReasonVolumeTerminating
		gone := ready != nil && ready.Reason == v1alpha1.ReasonVolumeLost
		switch {
		case ws.Status.ObservedGeneration != ws.Generation:
		case (d.want == warns || d.want == warnsOrLost) && warned,
			d.want == warnsOrLost && (says || gone),
			(d.want == lost || d.want == either) && says,
			(d.want == goesOn || d.want == either) && p.arrived(name, s, ws):
			return nil
		}
		p.nudge(ws)
		return fmt.Errorf("%s %+v", harness.Show(ws.Status), ready)
	})
	p.audit(name, d.name)
}
