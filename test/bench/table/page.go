package main

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"kyklos.io/kyklos/test/bench"
)

const head = `# Benchmarks

How long Kyklos takes and what it needs, where possible beside another program that does the same, or beside the least that has
to be done. Both are measured in one run, mostly in turns. A busy or slow machine changes both, so the ratio says more than the
time. Less is better everywhere. A goal is the most that the ratio may be, or the value if there is no ratio.

This page is generated from the last run of each part:

    make bench                        # all parts, on an idle machine: an hour or two
    make bench BENCH="engine lint"    # some parts; the others stay as they are

At its end it lists what became slower or bigger by more than 15 % since the last run, and which goals are missed. Ratios are
compared on any machine, values on the same machine only. Measure before a change and after it, and commit the page with it.

`

// page is docs/benchmarks.md.
func page(known results) string {
	var text strings.Builder
	text.WriteString(head)
	for _, area := range bench.Areas {
		fmt.Fprintf(&text, "## %s\n\n`BENCH=%s`. %s\n\n", area.Title, area.ID, area.Text)
		last, measured := known[area.ID]
		if !measured {
			text.WriteString("Not measured yet.\n\n")
			continue
		}
		table(&text, last.Figures)
		fmt.Fprintf(&text, "\nMeasured on %s: commit %s, %s, Kubernetes %s, %s.\n\n", last.Date, last.Commit, last.Go, last.Kubernetes, last.Machine)
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func (m machine) String() string {
	text := fmt.Sprintf("%d cores of %s", m.Cores, m.CPU)
	if m.MemoryGB > 0 {
		text += fmt.Sprintf(", %d GB of memory", m.MemoryGB)
	}
	return text
}

// table has a column for floors, and one for goals, if there are any.
func table(text *strings.Builder, figures []bench.Figure) {
	floors := slices.ContainsFunc(figures, func(f bench.Figure) bool { return f.Floor > 0 })
	goals := slices.ContainsFunc(figures, func(f bench.Figure) bool { return f.Goal > 0 })
	row := func(what, kyklos, beside, ratio, goal string) {
		cells := []string{what, kyklos}
		if floors {
			cells = append(cells, beside, ratio)
		}
		if goals {
			cells = append(cells, goal)
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		fmt.Fprintf(text, "| %s |\n", strings.Join(cells, " | "))
	}
	row("What", "Kyklos", "Beside", "Ratio", "Goal")
	row("---", "---", "---", "---", "---")
	for _, f := range figures {
		beside, ratio := floor(f)
		goal := ""
		if f.Goal > 0 {
			goal = digits(f.Goal)
		}
		if f.Missed() {
			goal += ", missed"
		}
		row(f.What, value(f), beside, ratio, goal)
	}
}

// digits is bench.Number with commas.
func digits(value float64) string {
	return message.NewPrinter(language.English).Sprint(number.Decimal(bench.Rounded(value, 3), number.MaxFractionDigits(9)))
}

func value(f bench.Figure) string { return digits(f.Value) + " " + f.Unit }

func floor(f bench.Figure) (beside, ratio string) {
	if f.Floor == 0 {
		return "", ""
	}
	return f.Beside + " " + digits(f.Floor) + " " + f.Unit, digits(f.Cost())
}
