// Command gen draws docs/office-hours.svg: a week of config/samples/office-hours.yaml, as kyklos preview -o svg does.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"kyklos.io/kyklos/internal/desk"
	"kyklos.io/kyklos/internal/manifest"
	"kyklos.io/kyklos/internal/preview"
	"kyklos.io/kyklos/internal/preview/draw"
)

//go:generate go run . ../../config/samples/office-hours.yaml ../office-hours.svg

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: gen SAMPLE.yaml PICTURE.svg")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(sample, picture string) error {
	drawn, err := week(sample)
	if err != nil {
		return fmt.Errorf("%s: %w", sample, err)
	}
	return os.WriteFile(picture, drawn, 0o644)
}

// week returns the picture of a week without a clock change of the TimeWindowScalers in a manifest.
func week(sample string) ([]byte, error) {
	set, err := manifest.Read([]string{sample}, nil)
	if err != nil {
		return nil, err
	}
	scalers, problems := desk.FromManifests(set, manifest.Default, nil)
	var errs []error
	for _, problem := range problems {
		errs = append(errs, problem)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	var timelines []*preview.Timeline
	for _, scaler := range scalers {
		monday := time.Date(2026, time.November, 2, 0, 0, 0, 0, scaler.Calendar.Zone)
		timelines = append(timelines, preview.Compute(&scaler.Scaler, monday, monday.AddDate(0, 0, 7)))
	}
	var drawn bytes.Buffer
	err = draw.SVG(&drawn, timelines, draw.Options{})
	return drawn.Bytes(), err
}
