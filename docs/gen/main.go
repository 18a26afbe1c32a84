// Command gen draws the pictures of schedules in docs: a week of a sample, as kyklos preview -o svg does.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/preview/render/picture"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/cli/source"
)

//go:generate go run . ../../config/samples/office-hours.yaml 2026-11-02 ../office-hours.svg ../../config/samples/follow-the-sun.yaml 2026-10-22 ../clock-change.svg

func main() {
	if len(os.Args) < 4 || len(os.Args)%3 != 1 {
		fmt.Fprintln(os.Stderr, "usage: gen SAMPLE.yaml DATE PICTURE.svg ...")
		os.Exit(2)
	}
	for picture := range slices.Chunk(os.Args[1:], 3) {
		if err := run(picture[0], picture[1], picture[2]); err != nil {
			fmt.Fprintln(os.Stderr, "gen:", err)
			os.Exit(1)
		}
	}
}

func run(sample, from, picture string) error {
	drawn, err := week(sample, from)
	if err != nil {
		return fmt.Errorf("%s: %w", sample, err)
	}
	return os.WriteFile(picture, drawn, 0o644)
}

// week returns the picture of a week from a date on, of the TimeWindowScalers in a manifest.
func week(sample, from string) ([]byte, error) {
	set, err := manifest.Read([]string{sample}, nil)
	if err != nil {
		return nil, err
	}
	scalers, problems := source.FromManifests(set, manifest.Default, nil)
	var errs []error
	for _, problem := range problems {
		errs = append(errs, problem)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var timelines []*timeline.Timeline
	for _, scaler := range scalers {
		begin, err := time.ParseInLocation(time.DateOnly, from, scaler.Calendar.Zone)
		if err != nil {
			return nil, err
		}
		timelines = append(timelines, timeline.Compute(&scaler.Scaler, begin, begin.AddDate(0, 0, 7)))
	}
	var drawn bytes.Buffer
	err = picture.SVG(&drawn, timelines, nil)
	return drawn.Bytes(), err
}
