package main

import (
	"io"

	"kyklos.io/kyklos/internal/preview"
	"kyklos.io/kyklos/internal/preview/draw"
	"kyklos.io/kyklos/internal/preview/output"
)

// drawn writes timelines as a picture.
func drawn(write func(io.Writer, []*preview.Timeline, draw.Options) error) previewWriter {
	return func(w io.Writer, timelines []*preview.Timeline, options output.Options) error {
		return write(w, timelines, draw.Options{Zone: options.Zone})
	}
}
