package main

import (
	"fmt"
	"time"

	"kyklos.io/kyklos/internal/lifecycle"
)

const statesName = "workspace-states.svg"

// Three columns, one per level, and two boxes below them.
const (
	columnWidth, gap = 170, 177
	top, inner       = 44, 240 // the boxes of levels begin here and are this high
	outside          = 350
	statesHeight     = 456
)

// place is the box of a state and a description of the home in it.
type place struct {
	state lifecycle.State
	box   box
	is    []string
}

func column(state lifecycle.State) int { return left + state.Level()/10*(columnWidth+gap) }

var places = []place{
	{lifecycle.Pending, box{left, top, columnWidth, 80}, []string{"no home yet"}},
	{lifecycle.Archived, box{left, top + 104, columnWidth, inner - 104}, []string{"home in the archive,", "no volume"}},
	{lifecycle.Standby, box{column(lifecycle.Standby), top, columnWidth, inner}, []string{"home on its volume,", "nothing runs"}},
	{lifecycle.Running, box{column(lifecycle.Running), top, columnWidth, inner}, []string{"home on its volume,", "the Pod runs"}},
}

// lane is the height at which an operation is drawn, below top.
var lanes = map[lifecycle.OperationType]int{
	lifecycle.Provisioning: 40, lifecycle.Restoring: 134, lifecycle.Archiving: 206, lifecycle.Starting: 62, lifecycle.Stopping: 178,
}

// states draws the levels, the operations between them, and the states outside.
func states() []byte {
	d := begin(width, statesHeight, "States of a Workspace, and the operations that lead from one to the next",
		"PENDING, STANDBY and RUNNING in a row with operations as arrows, ARCHIVED below PENDING, ERROR and DELETING outside")
	for _, p := range places {
		d.box("state", p.box)
		middle := p.box.y + (p.box.height-lineHeight*len(p.is))/2
		d.text("name middle", p.box.center(), middle, string(p.state))
		d.lines("middle", p.box.center(), middle+lineHeight+2, p.is...)
	}
	for _, edge := range lifecycle.Edges() {
		d.operation(edge, lifecycle.TraitOf(edge.Operation))
	}
	d.failed()
	d.deleting(lifecycle.TraitOf(lifecycle.Removing))
	return d.finish()
}

// operation draws one edge: the name above its arrow, how long it may take below.
func (d *drawing) operation(edge lifecycle.Edge, of lifecycle.Trait) {
	from, to := ends(edge)
	y := top + lanes[edge.Operation]
	start, end := from.right(), to.x
	if from.x > to.x {
		start, end = from.x, to.right()
	}
	d.arrow("arrow", fmt.Sprintf("M%d %dH%d", start, y, end))
	d.text("operation middle", (start+end)/2, y-8, string(edge.Operation))
	below := "at most " + minutes(of.Limit)
	if of.Job {
		below = "Job, at most " + minutes(of.Limit)
	}
	d.text("middle", (start+end)/2, y+18, below)
	if of.Cancel {
		d.cancelled(start, end, y, from)
	}
}

// cancelled draws the way back from an operation that can be cancelled up to a point.
func (d *drawing) cancelled(start, end, y int, from box) {
	d.point(end+(start-end)/4, y)
	leave, low := start-16, from.bottom()+24
	d.arrow("back", fmt.Sprintf("M%d %dV%dH%dV%d", leave, y, low, from.center(), from.bottom()))
	d.text("", from.center()+14, low+1, "cancelled, if the home is wanted again")
	d.point(from.center()+20, low+lineHeight-3)
	d.text("", from.center()+32, low+1+lineHeight, "point of no return: the volume is deleted")
}

// ends are the boxes that an edge connects. PENDING with an archive is ARCHIVED.
func ends(edge lifecycle.Edge) (from, to box) {
	is := func(state lifecycle.State, archived bool) box {
		if state == lifecycle.Pending && archived {
			state = lifecycle.Archived
		}
		for _, p := range places {
			if p.state == state {
				return p.box
			}
		}
		panic("no place for " + state)
	}
	return is(edge.From, edge.Archive == lifecycle.With), is(edge.To, true)
}

func (d *drawing) failed() {
	b := box{left, outside, 424, statesHeight - outside - 8}
	d.box("error", b)
	d.text("wrong", b.x+14, b.y+22, string(lifecycle.Failed))
	d.text("", b.x+74, b.y+22, "when a person has to decide what happens to data:")
	d.lines("", b.x+14, b.y+22+lineHeight+2, retries(),
		"Ends with a new spec, a retry request or an accepted loss.",
		fmt.Sprintf("All other failures are retried, at most %s apart.", minutes(lifecycle.Probe)))
}

// retries is how many times an operation is retried before ERROR.
func retries() string {
	return fmt.Sprintf("at once after %s, after %d retries after a %s.", lifecycle.DataLost, lifecycle.MaxRetries, lifecycle.Mismatch)
}

func (d *drawing) deleting(of lifecycle.Trait) {
	b := box{456, outside, 424, statesHeight - outside - 8}
	d.box("outside", b)
	d.text("name", b.x+14, b.y+22, string(lifecycle.Deleting))
	d.text("", b.x+94, b.y+22, "when the Workspace is deleted, in any state:")
	d.lines("", b.x+14, b.y+22+lineHeight+2,
		"the home is archived, deleted or kept, as spec.deletionPolicy says,",
		"then the Pod, the Jobs and the volume are deleted.",
		fmt.Sprintf("It continues until all are gone, with a warning after %s.", minutes(of.Limit)))
}

func minutes(d time.Duration) string { return fmt.Sprintf("%d min", int(d.Minutes())) }
