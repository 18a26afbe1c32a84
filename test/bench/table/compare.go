package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"kyklos.io/kyklos/test/bench"
)

// tolerance is how much more a figure may cost than last time before it is reported.
const tolerance = 0.15

// change is a figure and what it was last time, if that can be compared.
type change struct {
	now    bench.Figure
	before *bench.Figure
}

// compare returns all figures of now, in the order of the page.
func compare(before, now results) (changes []change) {
	for _, area := range bench.Areas {
		old := before[area.ID]
		for _, f := range now[area.ID].Figures {
			c := change{now: f}
			i := slices.IndexFunc(old.Figures, func(o bench.Figure) bool { return o.What == f.What })
			if i >= 0 && alike(old.Figures[i], f, old.Machine == now[area.ID].Machine) {
				c.before = &old.Figures[i]
			}
			changes = append(changes, c)
		}
	}
	return changes
}

// alike: a ratio is compared with one to the same floor, on any machine, and a value with one of the same machine.
func alike(a, b bench.Figure, sameMachine bool) bool {
	return a.Unit == b.Unit && a.Beside == b.Beside && (a.Floor > 0 || sameMachine)
}

// slower reports a cost that grew by more than is tolerated.
func (c change) slower() bool {
	return c.before != nil && c.now.Cost() > (1+tolerance)*c.before.Cost()
}

// grown says by how much.
func (c change) grown() string {
	switch {
	case c.before == nil:
		return ""
	case c.before.Cost() == c.now.Cost():
		return "0 %"
	case c.before.Cost() == 0:
		return "from 0"
	}
	return fmt.Sprintf("%+.0f %%", 100*(c.now.Cost()/c.before.Cost()-1))
}

// show prints the new figures, and below them what somebody should look at.
func show(out io.Writer, before, now results) error {
	changes := compare(before, now)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "AREA\tWHAT\tKYKLOS\tBESIDE\tRATIO\tCHANGE")
	for _, c := range changes {
		beside, ratio := floor(c.now)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", c.now.Area, c.now.What, value(c.now), beside, ratio, c.grown())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	quiet := true
	say := func(format string, args ...any) { quiet = false; fmt.Fprintf(out, format+"\n", args...) }
	for _, c := range changes {
		if c.slower() {
			say("SLOWER OR BIGGER (%s, before %s): %s", c.grown(), digits(c.before.Cost()), c.now)
		}
	}
	for _, c := range changes {
		if c.now.Missed() {
			say("GOAL MISSED (at most %s): %s", digits(c.now.Goal), c.now)
		}
	}
	for _, f := range gone(before, now) {
		say("NOT MEASURED ANY MORE: %s", f)
	}
	if quiet {
		fmt.Fprintf(out, "Nothing became slower or bigger by more than %.0f %%, and no goal is missed.\n", 100*tolerance)
	}
	return nil
}

// gone are the figures that the areas of now had before and have no more.
func gone(before, now results) (figures []bench.Figure) {
	for area, next := range now {
		for _, old := range before[area].Figures {
			if !slices.ContainsFunc(next.Figures, func(f bench.Figure) bool { return f.What == old.What }) {
				figures = append(figures, old)
			}
		}
	}
	slices.SortStableFunc(figures, func(a, b bench.Figure) int { return cmp.Compare(a.Area, b.Area) })
	return figures
}
