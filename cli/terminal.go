package cli

import (
	"io"
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a person looks at what is written to w, on something that can do more than
// print line after line.
func isTerminal(w io.Writer) bool {
	file, ok := w.(interface{ Fd() uintptr })
	return ok && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(file.Fd()))
}

// colours reports whether what is written to w may have colours: on terminals, unless NO_COLOR says
// otherwise by not being empty (no-color.org).
func colours(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == ""
}
