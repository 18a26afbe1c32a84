package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"kyklos.io/kyklos/test/bench"
)

// results are what was measured last, by area.
type results map[string]run

// run is one measurement of an area.
type run struct {
	Date       string         `json:"date"`
	Commit     string         `json:"commit"`
	Go         string         `json:"go"`
	Kubernetes string         `json:"kubernetes"`
	Machine    machine        `json:"machine"`
	Figures    []bench.Figure `json:"figures"`
}

type machine struct {
	CPU   string `json:"cpu"`
	Cores int    `json:"cores"`
	// MemoryGB is 0 if it is unknown.
	MemoryGB int `json:"memoryGB"`
}

// replace takes over the areas of other, as a whole: what they do not measure any more is gone.
func (r results) replace(other results) results {
	maps.Copy(r, other)
	return r
}

func read(path string) (results, error) {
	known := results{}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &known); err != nil {
		return nil, err
	}
	for area := range known {
		for i := range known[area].Figures {
			known[area].Figures[i].Area = area
		}
	}
	return known, nil
}

func (r results) write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, append(text, '\n'), 0o600))
}
