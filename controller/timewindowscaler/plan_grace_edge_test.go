package timewindowscaler

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
)

// B16: a grace period counts from the boundary, however late the pass is, and a manager that was away does not start it anew.
func TestGraceCountsFromTheBoundary(t *testing.T) {
	for _, tc := range []struct {
		back  string
		keeps int32
		until string
	}{
		{"2025-01-27 17:00:20", 10, "2025-01-27 17:05:00"},
		{"2025-01-27 17:04:59", 10, "2025-01-27 17:05:00"},
		{"2025-01-27 17:05:00", 2, ""},
		{"2025-01-27 23:00:00", 2, ""},
		{"2026-01-28 03:00:00", 2, ""},
	} {
		s := newGrace(t)
		s.pass(tc.back)
		s.expectEffective(tc.keeps, tc.until)
		s.expectTargetSpec(tc.keeps)
		if tc.until == "" {
			s.expectEvents("ScaledDown")
		}
	}
}

// B16: what is not due by the passing of time alone is due since the pass that finds it.
func TestGraceCountsFromAnEditOrAHoliday(t *testing.T) {
	s := newGrace(t)
	s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DefaultReplicas = intstr.FromInt32(3) })
	s.pass("2025-01-27 17:30:00")
	s.expectEffective(10, "2025-01-27 17:35:00")

	s = newGrace(t)
	s.tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "company-holidays"}}
	s.obs.holidays.dates = map[string]bool{"2025-01-27": true}
	s.pass("2025-01-27 16:59:30")
	s.expectEffective(10, "2025-01-27 17:04:30")
}

// hours is a schedule of consecutive hours: the count of each hour of a day, the same every day.
type hours [24]int32

func (h hours) spec(spec *v1beta1.TimeWindowScalerSpec) {
	spec.DefaultReplicas, spec.Windows = intstr.FromInt32(h[0]), nil
	for hour, count := range h {
		end := fmt.Sprintf("%02d:00", hour+1)
		spec.Windows = append(spec.Windows, v1beta1.Window{Days: []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"},
			Start: fmt.Sprintf("%02d:00", hour), End: end, Replicas: intstr.FromInt32(count)})
	}
}

func (h hours) at(t time.Time) int32 { return h[t.In(kolkata).Hour()] }

// lowerSince goes back from now, minute by minute, to since when fewer than count are due without interruption, but not before from,
// and not further than any grace period here is long.
func lowerSince(due func(time.Time) int32, count int32, from, now time.Time) time.Time {
	since := now.Truncate(time.Minute)
	for since.After(from) && due(since.Add(-time.Minute)) < count && now.Sub(since) < 3*time.Hour {
		since = since.Add(-time.Minute)
	}
	if since.After(from) {
		return since
	}
	return now
}

// B16: however long nobody made a pass, a decrease waits for its grace period from the boundary that made it due, or from the pass
// that found an edit, and never longer.
func TestGraceHoweverLatePassesAre(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newScenario(t, 1)
		var h hours
		draw := func() {
			for i := range h {
				h[i] = rapid.Int32Range(0, 4).Draw(rt, "count")
			}
			h.spec(&s.tws.Spec)
		}
		draw()
		length := time.Duration(rapid.SampledFrom([]int{1, 300, 3600, 10000}).Draw(rt, "grace")) * time.Second
		s.tws.Spec.GracePeriodSeconds = int32(length / time.Second)
		now := ist("2025-01-27 08:30:00")
		s.passAt(now)
		inForce, end := h.at(now), time.Time{}
		for range rapid.IntRange(1, 30).Draw(rt, "passes") {
			before := now
			now = now.Add(time.Duration(rapid.SampledFrom([]int{1, 60, 1800, 3600, 9000, 40000, 400000}).Draw(rt, "later")) * time.Second)
			edited := rapid.IntRange(0, 4).Draw(rt, "edited") == 0
			if edited {
				draw()
				s.tws.Generation++
			}
			want := h.at(now)
			switch {
			case want >= inForce:
				end = time.Time{}
			case end.IsZero() && edited:
				end = now.Add(length)
			case end.IsZero():
				end = lowerSince(h.at, inForce, before, now).Add(length)
			}
			if now.Before(end) {
				want = inForce
			} else {
				end = time.Time{}
			}
			s.passAt(now)
			inForce = want
			if got := ptr.Deref(s.tws.Status.EffectiveReplicas, -1); got != want || s.obs.target.Base().Spec != want {
				rt.Fatalf("after %s at %s: %d replicas, target %d, want %d", before, now, got, s.obs.target.Base().Spec, want)
			}
			if got := s.tws.Status.GracePeriodExpiry; got == nil != end.IsZero() || got != nil && !got.Time.Equal(end) {
				rt.Fatalf("after %s at %s: until %v, want %s", before, now, got, end)
			}
		}
	})
}
