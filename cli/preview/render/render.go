// Package render writes timelines: as a table for people, as JSON for programs, as events for calendars and as pictures.
package render

import (
	"io"
	"time"

	"kyklos.io/kyklos/cli/console"
	"kyklos.io/kyklos/cli/preview/render/picture"
	"kyklos.io/kyklos/cli/preview/timeline"
)

// Formats are the names of the formats, the default first.
var Formats = []string{"table", "json", "svg", "html", "png", "ics"}

// Writer writes timelines. Local times are shown in zone, or in each schedule's own if it is nil.
type Writer func(w io.Writer, timelines []*timeline.Timeline, zone *time.Location) error

// WriterOf returns the writer of a format, nil if there is no such format.
func WriterOf(format string) Writer {
	return map[string]Writer{
		"table": func(w io.Writer, timelines []*timeline.Timeline, zone *time.Location) error {
			return Table(w, timelines, zone, console.Colours(w))
		},
		"json": JSON, "ics": ICS, "svg": picture.SVG, "html": picture.HTML, "png": picture.PNG,
	}[format]
}
