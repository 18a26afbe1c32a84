package main

import (
	"errors"
	"io"

	"kyklos.io/kyklos/internal/preview"
	"kyklos.io/kyklos/internal/preview/output"
)

func drawSVG(io.Writer, []*preview.Timeline, output.Options) error  { return errors.New("not yet") }
func drawHTML(io.Writer, []*preview.Timeline, output.Options) error { return errors.New("not yet") }
func drawPNG(io.Writer, []*preview.Timeline, output.Options) error  { return errors.New("not yet") }
