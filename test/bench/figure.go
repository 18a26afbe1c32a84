// Package bench keeps what benchmarks measure. A benchmark calls Record for each of its figures; `make bench` merges them into
// docs/benchmarks.md.
package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"
)

// Figure is one measurement. Less is better.
type Figure struct {
	// Area is the part of `make bench` that measures it: one of Areas.
	Area string `json:"-"`
	// What names it within its area.
	What string `json:"what"`
	// Unit is s, ms, MB or a plural such as requests.
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	// Floor is what Value is compared with: the same done by Beside, measured in the same run, in the same unit. A busy or slower
	// machine changes both. 0 is none.
	Floor  float64 `json:"floor,omitempty"`
	Beside string  `json:"beside,omitempty"`
	// Goal is the most that Cost may be. 0 is none.
	Goal float64 `json:"goal,omitempty"`
}

// Cost is what is compared with the last run: the ratio to the floor if there is one.
func (f Figure) Cost() float64 {
	if f.Floor > 0 {
		return f.Value / f.Floor
	}
	return f.Value
}

// Missed reports that the goal is not met.
func (f Figure) Missed() bool { return f.Goal > 0 && f.Cost() > f.Goal }

func (f Figure) String() string {
	text := fmt.Sprintf("%s: %s: %s %s", f.Area, f.What, Number(f.Value), f.Unit)
	if f.Floor > 0 {
		text += fmt.Sprintf(", %s %s, ratio %s", f.Beside, Number(f.Floor), Number(f.Cost()))
	}
	return text
}

// Number has as many digits as matter: three.
func Number(value float64) string { return strconv.FormatFloat(Rounded(value, 3), 'f', -1, 64) }

// Rounded keeps the first digits that are not 0.
func Rounded(value float64, digits int) float64 {
	// ParseFloat reads everything that FormatFloat writes.
	value, _ = strconv.ParseFloat(strconv.FormatFloat(value, 'g', digits, 64), 64)
	return value
}

func (f Figure) check() error {
	switch {
	case !slices.ContainsFunc(Areas, func(a Area) bool { return a.ID == f.Area }):
		return fmt.Errorf("%s: the area is unknown: add it to bench.Areas", f)
	case f.What == "" || f.Unit == "":
		return fmt.Errorf("%s: a figure has a name and a unit", f)
	case (f.Floor == 0) != (f.Beside == ""):
		return fmt.Errorf("%s: a floor has a name", f)
	}
	for _, number := range []float64{f.Value, f.Floor, f.Goal} {
		if math.IsNaN(number) || math.IsInf(number, 0) || number < 0 {
			return fmt.Errorf("%s: %v is no measurement", f, number)
		}
	}
	return nil
}

// Variable names the file that Record writes. `make bench` sets it.
const Variable = "KYKLOS_BENCH_FIGURES"

// recorded is a line of that file.
type recorded struct {
	Area string `json:"area"`
	Figure
}

// Record logs a figure, and keeps it if `make bench` runs the test. Of figures with the same name, the medians count, of the values
// and of the floors: the best ratio would be the one whose floor was disturbed most.
func Record(t testing.TB, f Figure) {
	t.Helper()
	if err := f.check(); err != nil {
		t.Error(err)
		return
	}
	t.Log(f)
	path := os.Getenv(Variable)
	if path == "" {
		return
	}
	if err := appendLine(path, f); err != nil {
		t.Error(err)
	}
}

// appendLine adds a line in one write: several tests may record at once.
func appendLine(path string, f Figure) error {
	f.Value, f.Floor = Rounded(f.Value, 4), Rounded(f.Floor, 4)
	line, err := json.Marshal(recorded{f.Area, f})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := file.Write(append(line, '\n')); err != nil {
		return err
	}
	return file.Close()
}

// Read returns the figures of a file that Record wrote, by area and in the order of their first appearance.
func Read(path string) (map[string][]Figure, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	type name struct{ area, what string }
	var order []name
	all := map[name][]Figure{}
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		var line recorded
		if err := lines.Decode(&line); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		line.Figure.Area = line.Area
		of := name{line.Area, line.What}
		if all[of] == nil {
			order = append(order, of)
		}
		all[of] = append(all[of], line.Figure)
	}
	figures := map[string][]Figure{}
	for _, of := range order {
		figure := all[of][0]
		figure.Value = median(all[of], func(f Figure) float64 { return f.Value })
		figure.Floor = median(all[of], func(f Figure) float64 { return f.Floor })
		figures[of.area] = append(figures[of.area], figure)
	}
	return figures, nil
}

// median of an even number is the mean of the two in the middle.
func median(figures []Figure, number func(Figure) float64) float64 {
	numbers := make([]float64, 0, len(figures))
	for _, figure := range figures {
		numbers = append(numbers, number(figure))
	}
	slices.Sort(numbers)
	middle := len(numbers) / 2
	if len(numbers)%2 == 1 {
		return numbers[middle]
	}
	return Rounded((numbers[middle-1]+numbers[middle])/2, 4)
}
