// Command gen draws docs/office-hours.svg: the week of config/samples/office-hours.yaml as the engine
// computes it.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
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
	content, err := os.ReadFile(sample)
	if err != nil {
		return err
	}
	drawn, err := draw(content)
	if err != nil {
		return fmt.Errorf("%s: %w", sample, err)
	}
	return os.WriteFile(picture, drawn, 0o644)
}

// The picture's measures, in pixels.
const (
	hourWidth, unitHeight  = 5, 11
	left, top              = 40, 44
	right, bottom          = 16, 30
	hoursPerWeek           = 7 * 24
	width                  = left + hoursPerWeek*hourWidth + right
	mostReplicas, baseline = 10, top + mostReplicas*unitHeight
	height                 = baseline + bottom
)

// draw returns the picture of the week of the TimeWindowScaler in a manifest.
func draw(manifest []byte) ([]byte, error) {
	var tws v1beta1.TimeWindowScaler
	documents := bytes.Split(manifest, []byte("\n---\n"))
	if err := yaml.UnmarshalStrict(documents[len(documents)-1], &tws); err != nil {
		return nil, err
	}
	reading := schedule.FromSpec(&tws.Spec, field.NewPath("spec"))
	if errs := reading.Errors(); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	steps := week(reading.Calendar)
	var svg strings.Builder
	fmt.Fprintf(&svg, head, width, height, width, height, left, tws.Name, tws.Spec.Timezone)
	fmt.Fprint(&svg, grid())
	fmt.Fprintf(&svg, `<path class="area" d="%s"/>`+"\n", outline(steps))
	for _, label := range labels(steps) {
		fmt.Fprintln(&svg, label)
	}
	svg.WriteString("</svg>\n")
	return []byte(svg.String()), nil
}

const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="Replicas over the week">
<style>
text { font: 12px system-ui, sans-serif; fill: #57606a; }
.title { font-size: 14px; fill: #24292f; }
.count { font-weight: 600; fill: #0550ae; text-anchor: middle; }
.day { text-anchor: middle; }
.scale { text-anchor: end; }
.grid { stroke: #d0d7de; stroke-width: 1; }
.area { fill: #54aeff; fill-opacity: .35; stroke: #0969da; stroke-width: 1.5; stroke-linejoin: round; }
@media (prefers-color-scheme: dark) {
text { fill: #8d96a0; } .title { fill: #e6edf3; } .count { fill: #79c0ff; }
.grid { stroke: #30363d; } .area { fill: #1f6feb; stroke: #58a6ff; }
}
</style>
<text class="title" x="%d" y="20">%s: replicas over a week, %s</text>
`

// step is a stretch of the week with one replica count; hours count from Monday 00:00.
type step struct {
	from, to float64
	replicas int32
}

// week asks the engine at every boundary of a week without a clock change.
func week(calendar timecalc.Calendar) []step {
	monday := time.Date(2026, time.November, 2, 0, 0, 0, 0, calendar.Zone)
	end := monday.AddDate(0, 0, 7)
	var steps []step
	for at := monday; at.Before(end); {
		next := calendar.NextBoundary(at)
		if next.After(end) {
			next = end
		}
		replicas := calendar.At(at).Replicas
		if last := len(steps) - 1; last >= 0 && steps[last].replicas == replicas {
			steps[last].to = next.Sub(monday).Hours()
		} else {
			steps = append(steps, step{from: at.Sub(monday).Hours(), to: next.Sub(monday).Hours(), replicas: replicas})
		}
		at = next
	}
	return steps
}

func x(hour float64) float64   { return left + hour*hourWidth }
func y(replicas int32) float64 { return float64(baseline - replicas*unitHeight) }

func grid() string {
	var svg strings.Builder
	for _, replicas := range []int32{0, mostReplicas / 2, mostReplicas} {
		fmt.Fprintf(&svg, `<text class="scale" x="%d" y="%g">%d</text>`+"\n", left-8, y(replicas)+4, replicas)
		fmt.Fprintf(&svg, `<path class="grid" d="M%d %gH%g"/>`+"\n", left, y(replicas), x(hoursPerWeek))
	}
	for day, name := range []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
		begin := float64(day * 24)
		fmt.Fprintf(&svg, `<path class="grid" d="M%g %dV%d"/>`+"\n", x(begin), top, baseline)
		fmt.Fprintf(&svg, `<text class="day" x="%g" y="%d">%s</text>`+"\n", x(begin+12), baseline+20, name)
	}
	return svg.String()
}

// outline is the path around the area under the steps.
func outline(steps []step) string {
	path := fmt.Sprintf("M%d %d", left, baseline)
	for _, s := range steps {
		path += fmt.Sprintf("V%gH%g", y(s.replicas), x(s.to))
	}
	return path + fmt.Sprintf("V%dZ", baseline)
}

// labels puts the count above each step.
func labels(steps []step) []string {
	var found []string
	for _, s := range steps {
		found = append(found, fmt.Sprintf(`<text class="count" x="%g" y="%g">%d</text>`, x((s.from+s.to)/2), y(s.replicas)-4, s.replicas))
	}
	return found
}
