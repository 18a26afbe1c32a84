package matrix

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

const head = `# Faults

What Kyklos promises when something else fails, and the tests that hold it to that. The tests run the built manager
against a real API server and its store; faults are injected by a proxy in front of the API server, by signals, by the
clock, and by writes into the store. This page is generated from the table of those tests.

` + "`make test`" + ` runs all of them, with a slice of the long faults. ` + "`make test-faults`" + ` lets every fault last its whole time, up to
eleven minutes, and writes what it measures into this page. ` + "`make soak SOAK=1h`" + ` mixes them at random (F23).

`

// page is docs/faults.md.
func page(rows []row, measured measurements) string {
	var text strings.Builder
	text.WriteString(head)
	for _, r := range rows {
		fmt.Fprintf(&text, "## %s: %s\n\n%s\n\n", r.ID, r.Fault, r.Promise)
		for _, test := range r.Tests {
			fmt.Fprintf(&text, "- `%s`\n", test)
		}
		text.WriteString("\n")
		if last := measured[r.ID]; len(last) > 0 {
			text.WriteString("| Measured last | |\n|---|---|\n")
			for _, what := range slices.Sorted(maps.Keys(last)) {
				fmt.Fprintf(&text, "| %s | %s |\n", what, last[what])
			}
			text.WriteString("\n")
		}
	}
	return strings.TrimSuffix(text.String(), "\n")
}
