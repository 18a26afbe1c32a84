package picture

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/golden"
)

// groups are the groups of a scene, in order.
func (s *scene) groups() []group {
	var all []group
	for _, one := range s.shapes {
		if part, ok := one.(group); ok {
			all = append(all, part)
		}
	}
	return all
}

// texts are all texts of a scene, those of groups too.
func (s *scene) texts() []text {
	shapes := slices.Clone(s.shapes)
	for _, part := range s.groups() {
		shapes = append(shapes, part.shapes...)
	}
	var all []text
	for _, one := range shapes {
		if found, ok := one.(text); ok {
			all = append(all, found)
		}
	}
	return all
}

func (t text) String() string {
	var all []string
	for _, r := range t.runs {
		all = append(all, r.text)
	}
	return strings.Join(all, " ")
}

// box is the room that a text takes in the widest font.
func (t text) box() (left, right float64) {
	wide := widthOf(t.runs...)
	switch t.anchor {
	case middle:
		return t.x - wide/2, t.x + wide/2
	case end:
		return t.x - wide, t.x
	}
	return t.x, t.x + wide
}

// A second of a replica takes the same room wherever it is drawn: areas add up to the sum of the timeline, and so do rows.
func TestAreasAreReplicaHours(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		timeline := anySchedule(t)
		s := newStrip(timeline, nil)
		var sum int64
		for _, r := range s.rows {
			sum += s.replicaSeconds(r)
		}
		if sum != timeline.Seconds {
			t.Fatalf("rows add up to %d replica-seconds, the timeline to %d", sum, timeline.Seconds)
		}
		room := map[int]float64{} // seconds by count
		for _, segment := range timeline.Segments {
			room[int(segment.Replicas)] += segment.End.Sub(segment.Start).Seconds()
		}
		got := map[int]float64{}
		for i, segment := range timeline.Segments {
			for _, part := range s.spans(segment.Start, segment.End) {
				got[int(timeline.Segments[i].Replicas)] += (xOf(part.to) - xOf(part.from)) * 3600 / hourWidth
			}
		}
		for count, seconds := range room {
			if math.Abs(got[count]-seconds) > 1 {
				t.Fatalf("%d replicas are drawn for %.0f s, want %.0f s", count, got[count], seconds)
			}
		}
	})
}

// What is drawn stays in the picture, and no label lies over another one or over a bar.
func TestLabelsKeepApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scene := drawn(t, anySchedule(t))
		var labels []text
		var bars []rectangle
		for _, part := range scene.groups() {
			for _, one := range part.shapes {
				switch one := one.(type) {
				case text:
					labels = append(labels, one)
				case rectangle:
					if one.class != "hit" && !strings.HasSuffix(one.class, " stub") {
						bars = append(bars, one)
					}
				}
			}
		}
		for i, label := range labels {
			left, right := label.box()
			if left < margin || right > width-margin/2 || label.y > scene.height {
				t.Fatalf("%q reaches from %.0f to %.0f", label, left, right)
			}
			for _, other := range labels[:i] {
				if l, r := other.box(); math.Abs(label.y-other.y) < 8 && left < r && l < right {
					t.Fatalf("%q at %.0f-%.0f lies over %q at %.0f-%.0f", label, left, right, other, l, r)
				}
			}
			for _, bar := range bars {
				if left < bar.x+bar.width && bar.x < right && label.y-8 < bar.y+bar.height && bar.y < label.y {
					t.Fatalf("%q at %.0f-%.0f lies over a bar", label, left, right)
				}
			}
		}
	})
}

func TestHeights(t *testing.T) {
	s := newStrip(timelineOf(t, spec("UTC", 0, window("", "08:00", "12:00", 1), window("", "12:00", "14:00", 500), window("", "14:00", "18:00", 1000)), "2026-11-02", 1), nil)
	var got []float64
	for _, replicas := range []int32{0, 1, 500, 1000} {
		got = append(got, s.heightOf(replicas))
	}
	if diff := cmp.Diff([]float64{0, lowest, barHeight / 2, barHeight}, got); diff != "" {
		t.Error(diff)
	}
}

// A bar that continues at midnight shows that on both sides, and has no edge there.
func TestNoEdgeAtMidnight(t *testing.T) {
	scene := drawn(t, timelineOf(t, spec("UTC", 0, window("night", "22:00", "06:00", 8)), "2026-11-02", 2))
	var got []string
	for _, part := range scene.groups() {
		edges := ""
		for _, one := range part.shapes {
			switch one := one.(type) {
			case rectangle:
				if strings.HasSuffix(one.class, " stub") {
					edges += map[bool]string{true: "> ", false: "< "}[one.x == gridRight]
				}
			case line:
				edges += map[int]string{4: "closed", 3: "open", 2: "flat"}[len(one.paths[0])]
			}
		}
		got = append(got, edges)
	}
	// The first bar begins with the picture, and the last one ends with it.
	if diff := cmp.Diff([]string{"closed", "closed", "> open", "< open", "closed", "closed"}, got); diff != "" {
		t.Error(diff)
	}
}

// The texts of a strip are in a golden file.
func TestTextsOfAStrip(t *testing.T) {
	london := spec("Europe/London", 1, window("", "08:00", "18:00", 5, "Mon", "Tue", "Wed", "Thu", "Fri"), window("deploy", "19:00", "20:30", 3, "Tue", "Thu"))
	london.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayOpen, SourceRef: &v1beta1.HolidaySource{Name: "dates"}}
	london.GracePeriodSeconds, london.Pause = 5400, true
	want := golden.New(t, "strips")
	for name, tc := range map[string]struct {
		timeline *timeline.Timeline
		zone     *time.Location
	}{
		"a week":                    {office(t), nil},
		"a repeated hour":           {timelineOf(t, office(t).Scaler.Spec, "2026-10-25", 1), nil},
		"a skipped hour":            {timelineOf(t, office(t).Scaler.Spec, "2027-03-28", 1), nil},
		"holidays, grace and pause": {timelineOf(t, london, "2026-12-24", 3, "2026-12-25"), nil},
		"another zone":              {timelineOf(t, london, "2026-12-24", 3), time.FixedZone("Test/Zone", 3600)},
	} {
		scene, err := picture([]*timeline.Timeline{tc.timeline}, tc.zone)
		if err != nil {
			t.Fatal(err)
		}
		want.Add(name, textsOf(scene)...)
	}
}

func textsOf(s *scene) (lines []string) {
	for _, t := range s.texts() {
		lines = append(lines, t.String())
	}
	return lines
}
