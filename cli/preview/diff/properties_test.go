package diff_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/diff"
	"kyklos.io/kyklos/cli/preview/timeline"
)

// anySpec draws a spec; its windows have few times, so that changes meet.
func anySpec(t *rapid.T) *v1beta1.TimeWindowScalerSpec {
	clock := func(label string) string {
		return fmt.Sprintf("%02d:%02d", rapid.IntRange(0, 23).Draw(t, label), rapid.SampledFrom([]int{0, 30}).Draw(t, label))
	}
	s := spec(rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}).Draw(t, "zone"))
	s.TargetRef.Name = rapid.SampledFrom([]string{"web", "api", "db"}).Draw(t, "target")
	for range rapid.IntRange(1, 3).Draw(t, "windows") {
		w := window("all", clock("start"), clock("end"), rapid.Int32Range(0, 4).Draw(t, "replicas"))
		if w.Start == w.End {
			w.End = "24:00"
		}
		w.Days = w.Days[rapid.IntRange(0, 3).Draw(t, "first day"):rapid.IntRange(4, 7).Draw(t, "last day")]
		s.Windows = append(s.Windows, w)
	}
	if rapid.Bool().Draw(t, "holidays") {
		s.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "days"}}
	}
	return s
}

func anyTimelines(t *rapid.T) (all []*timeline.Timeline) {
	for range rapid.IntRange(0, 4).Draw(t, "scalers") {
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
		all = append(all, timelineOf(t, name, anySpec(t), 35, rapid.SampledFrom([]string{"2027-02-24", "2027-03-14"}).Draw(t, "holiday")))
	}
	return all
}

func TestNoDifferenceFromItself(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := anyTimelines(t)
		d := diff.Compare(all, slices.Clone(all))
		if !d.Empty() || d.Before != d.After || len(d.Scalers) != len(all) {
			t.Fatalf("%+v", d)
		}
	})
}

// Nothing is lost and nothing made up: a difference, applied to the transitions before, gives those after; each scaler is
// there once on its side; and the replica-hours are those of the timelines.
func TestTheDifferenceLeadsFromOneToTheOther(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, after := anyTimelines(t), anyTimelines(t)
		d := diff.Compare(before, after)
		was, is := map[*timeline.Timeline]int{}, map[*timeline.Timeline]int{}
		var secondsBefore, secondsAfter int64
		for i := range d.Scalers {
			s := &d.Scalers[i]
			was[s.Before]++
			is[s.After]++
			apply(t, s)
		}
		for _, made := range before {
			secondsBefore += seconds(made)
			if was[made] != 1 {
				t.Fatalf("%s is there %d times before", made.Scaler.Name, was[made])
			}
		}
		for _, made := range after {
			secondsAfter += seconds(made)
			if is[made] != 1 {
				t.Fatalf("%s is there %d times after", made.Scaler.Name, is[made])
			}
		}
		if d.Before != secondsBefore || d.After != secondsAfter {
			t.Fatalf("%d and %d replica-seconds, want %d and %d", d.Before, d.After, secondsBefore, secondsAfter)
		}
	})
}

type flip struct {
	unix     int64
	from, to int32
}

func flips(made *timeline.Timeline) map[flip]int {
	all := map[flip]int{}
	if made != nil {
		for _, t := range made.Transitions {
			all[flip{t.Time.Unix(), t.From, t.To}]++
		}
	}
	return all
}

func apply(t *rapid.T, s *diff.Scaler) {
	have := flips(s.Before)
	for _, step := range s.Steps {
		if b := step.Before; b != nil {
			at := flip{b.Time.Unix(), b.From, b.To}
			if have[at]--; have[at] == 0 {
				delete(have, at)
			}
		}
	}
	for _, step := range s.Steps {
		if a := step.After; a != nil {
			have[flip{a.Time.Unix(), a.From, a.To}]++
		}
		sides := map[diff.Kind][2]bool{diff.Added: {false, true}, diff.Removed: {true, false}, diff.Moved: {true, true}, diff.Changed: {true, true}}
		if got := [2]bool{step.Before != nil, step.After != nil}; got != sides[step.Kind] {
			t.Fatalf("%s has sides %v", step.Kind, got)
		}
		up := func(t *timeline.Transition) bool { return t.To > t.From }
		if step.Kind == diff.Moved && (step.By() == 0 || step.By().Abs() >= 12*time.Hour || up(step.Before) != up(step.After)) {
			t.Fatalf("%+v is taken for %+v", step.Before, step.After)
		}
	}
	if diff := cmp.Diff(flips(s.After), have, cmp.AllowUnexported(flip{})); diff != "" {
		t.Fatalf("-after +before with the steps:\n%s", diff)
	}
}

// seconds adds up segments, and so does not go by Timeline.Seconds.
func seconds(t *timeline.Timeline) (sum int64) {
	for _, s := range t.Segments {
		sum += int64(s.Replicas) * int64(s.End.Sub(s.Start)/time.Second)
	}
	return sum
}

// Rows are complete: they show as many dates as there are steps, and have all their cells.
func TestEveryStepIsShown(t *testing.T) {
	times := regexp.MustCompile(`(\d+) times, \d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d$|\d{4}-\d\d-\d\d$`)
	count := func(line string) int {
		match := times.FindStringSubmatch(line)
		if match == nil {
			return 0
		}
		n, err := strconv.Atoi(match[1])
		if err != nil {
			return 1
		}
		return n
	}
	rapid.Check(t, func(t *rapid.T) {
		d := diff.Compare(anyTimelines(t), anyTimelines(t))
		steps := 0
		for i := range d.Scalers {
			steps += len(d.Scalers[i].Steps)
		}
		var text, markdown bytes.Buffer
		o := diff.Options{Days: 35, From: "now"}
		if err := errors.Join(diff.Text(&text, d, o), diff.Markdown(&markdown, d, o)); err != nil {
			t.Fatal(err)
		}
		shown := 0
		for line := range strings.Lines(text.String()) {
			if !strings.Contains(line, "holidays ") {
				shown += count(strings.TrimRight(line, "\n"))
			}
		}
		if shown != steps {
			t.Fatalf("%d steps, but %d are shown:\n%s", steps, shown, text.String())
		}
		shown = 0
		for line := range strings.Lines(markdown.String()) {
			if !strings.HasPrefix(line, "|") {
				continue
			}
			if strings.Count(line, "|") != 6 {
				t.Fatalf("not five cells: %s", line)
			}
			shown += count(strings.TrimSuffix(line, " |\n"))
		}
		if shown != steps || strings.Count(markdown.String(), "<details>") != strings.Count(markdown.String(), "</details>") {
			t.Fatalf("%d steps, but %d are shown:\n%s", steps, shown, markdown.String())
		}
	})
}
