package render_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	ics "github.com/arran4/golang-ical"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/render"
	"kyklos.io/kyklos/cli/preview/timeline"
)

func calendar(t *testing.T, timelines ...*timeline.Timeline) (text string, read *ics.Calendar) {
	t.Helper()
	var out bytes.Buffer
	if err := render.ICS(&out, timelines, nil); err != nil {
		t.Fatal(err)
	}
	text = out.String()
	read, err := ics.ParseCalendar(&out)
	if err != nil {
		t.Fatal(err)
	}
	return text, read
}

// events are lines that say what a calendar would show.
func events(t *testing.T, read *ics.Calendar) (lines []string) {
	t.Helper()
	for _, event := range read.Events() {
		start, startErr := event.GetStartAt()
		end, endErr := event.GetEndAt()
		if startErr != nil || endErr != nil {
			t.Fatal(startErr, endErr)
		}
		const layout = "01-02 15:04"
		lines = append(lines, fmt.Sprintf("%s until %s %s", start.UTC().Format(layout), end.UTC().Format(layout), event.GetProperty(ics.ComponentPropertySummary).Value))
	}
	return lines
}

// Each stretch of a window is an event; the default has none. Berlin is an hour ahead of UTC before the night of the 28th, and two after it.
func TestICS(t *testing.T) {
	text, read := calendar(t, spring(t))
	want := []string{
		"03-26 23:00 until 03-27 01:30 shop: 3 (nights)",
		"03-27 21:00 until 03-28 01:00 shop: 3 (nights)",
		"03-28 01:00 until 03-28 02:00 shop: 5 (tokyo)",
		"03-28 20:00 until 03-28 22:00 shop: 3 (nights)",
		"03-29 22:00 until 03-30 00:30 shop: 3 (nights)",
		"03-30 06:00 until 03-30 16:00 shop: 12 (BusinessHours)",
		"03-30 20:00 until 03-30 22:00 shop: 3 (nights)",
	}
	if diff := cmp.Diff(want, events(t, read)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\r\n"), "\r\n") {
		if len(line) > 75 || strings.ContainsAny(line, "\r\n") {
			t.Errorf("no line of RFC 5545: %q", line)
		}
	}
	if again, _ := calendar(t, spring(t)); again != text {
		t.Error("the same schedule is another file")
	}
}

// Open holidays in a row are one event.
func TestOpenHolidaysInACalendar(t *testing.T) {
	spec := shop()
	spec.Holidays.Mode, spec.Windows = v1beta1.HolidayOpen, spec.Windows[:1]
	_, read := calendar(t, compute(t, "shop", spec, "2027-03-26T20:00:00+01:00", "2027-03-29T00:00:00+02:00", "2027-03-27", "2027-03-28"))
	want := []string{"03-26 23:00 until 03-28 22:00 shop: 12 (Holiday)"}
	if diff := cmp.Diff(want, events(t, read)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// An event has one UID, however the calendar is cut, and no two events share one.
func TestUIDs(t *testing.T) {
	uids := func(from time.Time) map[string]string {
		other := shop()
		other.DefaultReplicas = intstr.FromInt32(2)
		_, read := calendar(t, compute(t, "shop", shop(), from.Format(time.RFC3339), "2027-04-02T00:00:00Z"), compute(t, "other", other, from.Format(time.RFC3339), "2027-04-02T00:00:00Z"))
		all := make(map[string]string)
		for _, event := range read.Events() {
			end := event.GetProperty(ics.ComponentPropertyDtEnd).Value + event.GetProperty(ics.ComponentPropertySummary).Value
			if _, twice := all[event.Id()]; twice {
				t.Errorf("two events are %s", event.Id())
			}
			all[event.Id()] = end
		}
		return all
	}
	whole := uids(instant(t, "2027-03-26T00:00:00Z"))
	for minutes := 0; minutes < 72*60; minutes += 97 {
		for id, end := range uids(instant(t, "2027-03-26T12:00:00Z").Add(time.Duration(minutes) * time.Minute)) {
			if whole[id] != end {
				t.Fatalf("%s is %q in a calendar that begins %d minutes later, and %q in the whole one", id, end, minutes, whole[id])
			}
		}
	}
}
