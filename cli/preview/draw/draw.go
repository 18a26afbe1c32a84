package draw

import (
	"errors"
	"fmt"
	"io"
	"time"

	"kyklos.io/kyklos/cli/preview/timeline"
)

// maxDays is how long a timeline may be in a picture: five weeks, so that any month fits. Longer ones are for tables and programs.
const maxDays = 35

// Options say how timelines are drawn.
type Options struct {
	// Zone is the zone of rows and times. Nil is that of each schedule.
	Zone *time.Location
}

// SVG writes one picture of all timelines, a strip for each, one below the other. It follows the reader's choice of light or
// dark. The error says if there is nothing to draw, or more than a person can read.
func SVG(w io.Writer, timelines []*timeline.Timeline, options Options) error {
	scene, err := picture(timelines, options)
	if err != nil {
		return err
	}
	return writeSVG(w, scene)
}

// PNG writes the same picture as SVG does, light and in twice its size.
func PNG(w io.Writer, timelines []*timeline.Timeline, options Options) error {
	scene, err := picture(timelines, options)
	if err != nil {
		return err
	}
	return writePNG(w, scene)
}

// The picture's measures, in pixels: GitHub shows a README about as wide.
const (
	width   = 840.0
	margin  = 16.0
	between = 28.0 // two strips
)

// picture lays all strips out, one below the other.
func picture(timelines []*timeline.Timeline, options Options) (*scene, error) {
	if err := check(timelines); err != nil {
		return nil, err
	}
	whole := &scene{width: width}
	top := margin
	for i, timeline := range timelines {
		if i > 0 {
			whole.add(through("grid", point{margin, top + between/2}, point{width - margin, top + between/2}))
			top += between
		}
		s := newStrip(timeline, options.Zone)
		whole.label = joined(whole.label, s.summary())
		top = s.layOut(whole, top)
	}
	whole.height = top + margin
	return whole, nil
}

// joined puts what is said of several strips behind one another: a picture has one label.
func joined(before, sentence string) string {
	if before == "" {
		return sentence
	}
	return before + " " + sentence
}

// check says what cannot be drawn.
func check(timelines []*timeline.Timeline) error {
	if len(timelines) == 0 {
		return errors.New("there is no TimeWindowScaler to draw")
	}
	for _, t := range timelines {
		if len(t.Segments) == 0 {
			return fmt.Errorf("%s: there is no time to draw between %s and %s", t.Scaler.Name, t.From.Format(time.RFC3339), t.Until.Format(time.RFC3339))
		}
		// The days may be those of another zone, whose clock changes.
		if t.Until.After(t.From.AddDate(0, 0, maxDays).Add(3 * time.Hour)) {
			return fmt.Errorf("a picture shows at most %d days: ask for fewer, or for table, json or ics", maxDays)
		}
	}
	return nil
}
