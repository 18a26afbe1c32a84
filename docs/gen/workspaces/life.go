package main

import (
	"fmt"

	"kyklos.io/kyklos/internal/lifecycle"
)

const lifeName = "workspace-archive.svg"

// The life of an archive goes from left to right, one step a column.
const (
	lifeLeft, stepWidth    = 76, 100
	barHeight              = 22
	phaseTop, volumeTop    = 48, 92
	archiveTop, wordsTop   = 132, 194
	lifeHeight, lifeBottom = 292, 164
)

// step is a column: what is done in it, and which actions of the engine it is.
type step struct {
	during string
	acts   []lifecycle.ActionKind
	does   []string
}

// recorded is the step at whose end the archive is the home, and there is no return.
const recorded = 2

const archiving, restoring = string(lifecycle.Archiving), string(lifecycle.Restoring)

var steps = []step{
	{archiving, []lifecycle.ActionKind{lifecycle.ActCreateJob}, []string{"A Job packs", "the home and", "uploads it."}},
	{archiving, nil, []string{"It reads all of", "it back, and", "writes the", "marker."}},
	{archiving, []lifecycle.ActionKind{lifecycle.ActDeleteJob, lifecycle.ActVerify}, []string{"Kyklos ends the", "Job, checks", "and records the", "archive."}},
	{archiving, []lifecycle.ActionKind{lifecycle.ActVerify, lifecycle.ActDeleteVolume}, []string{"It checks again,", "then deletes", "the volume."}},
	{string(lifecycle.Archived), nil, []string{"Only the", "archive is", "kept."}},
	{restoring, []lifecycle.ActionKind{lifecycle.ActVerify, lifecycle.ActCreateVolume, lifecycle.ActCreateJob}, []string{"A Job unpacks", "it on a new", "volume, out of", "sight."}},
	{restoring, []lifecycle.ActionKind{lifecycle.ActMarkVolume, lifecycle.ActDeleteJob}, []string{"When all is", "verified and on", "disk, it is made", "the home."}},
	{string(lifecycle.Standby), nil, []string{"The archive", fmt.Sprintf("stays until %d h", int(lifecycle.OrphanAge.Hours())), "after a newer", "one is there."}},
}

// bar is a stretch of steps in which there is a copy of the home, whole or in the making.
type bar struct {
	class    string
	top      int
	from, to float64
	says     string
}

var bars = []bar{
	{"whole", volumeTop, 0, 3.6, "the home"},
	{"part", volumeTop, 5, 6.6, "incomplete"},
	{"whole", volumeTop, 6.6, 8, "the home"},
	{"part", archiveTop, 0, 1.6, "incomplete"},
	{"whole", archiveTop, 1.6, 8, "a verified copy"},
}

// life draws where the home is, from one archive to the next.
func life() []byte {
	d := begin(width, lifeHeight, "Where the home is: at every moment there is a whole copy, in the volume or in the archive",
		"The steps of ARCHIVING and RESTORING from left to right, and below them a bar for the volume and one for the archive")
	for i, s := range steps {
		if i == 0 || steps[i-1].during != s.during {
			d.phase(i)
		}
		d.lines("", at(float64(i))+6, wordsTop+lineHeight, s.does...)
		d.text("name", at(float64(i))+6, wordsTop-4, fmt.Sprint(i+1))
	}
	d.text("name", left, volumeTop+16, "Volume")
	d.text("name", left, archiveTop+16, "Archive")
	for _, b := range bars {
		x, end := at(b.from), at(b.to)
		d.box(b.class, box{x, b.top, end - x, barHeight})
		d.text(b.class+" middle", (x+end)/2, b.top+15, b.says)
	}
	x := at(recorded + 1)
	fmt.Fprintf(d, `<path class="grid" d="M%d %dV%d"/>`+"\n", x, volumeTop-6, lifeBottom)
	d.point(x, volumeTop-12)
	d.text("wrong end", x-10, volumeTop-8, "can be cancelled up to here")
	return d.finish()
}

// phase names what goes on from step i on, for as long as it does.
func (d *drawing) phase(i int) {
	end := i
	for end < len(steps) && steps[end].during == steps[i].during {
		end++
	}
	x, to := at(float64(i)), at(float64(end))
	fmt.Fprintf(d, `<path class="grid" d="M%d %dV%d"/>`+"\n", x, phaseTop-10, lifeHeight-8)
	class := "operation middle"
	if lifecycle.State(steps[i].during) == lifecycle.Archived || lifecycle.State(steps[i].during) == lifecycle.Standby {
		class = "name middle"
	}
	d.text(class, (x+to)/2, phaseTop, steps[i].during)
}

func at(step float64) int { return lifeLeft + int(step*stepWidth) }
