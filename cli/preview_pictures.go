package cli

import (
	"io"

	"kyklos.io/kyklos/cli/preview/draw"
	"kyklos.io/kyklos/cli/preview/output"
	"kyklos.io/kyklos/cli/preview/timeline"
)

// drawn writes timelines as a picture.
func drawn(write func(io.Writer, []*timeline.Timeline, draw.Options) error) previewWriter {
	return func(w io.Writer, timelines []*timeline.Timeline, options output.Options) error {
		return write(w, timelines, draw.Options{Zone: options.Zone})
	}
}
