package soak

import (
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// step is a count from a time on.
type step struct {
	at    time.Time
	count int32
}

// plan is the counts of a scaler, the first of them since ever.
type plan []step

// at returns the last step that is due.
func (p plan) at(now time.Time) (index int) {
	for index+1 < len(p) && !p[index+1].at.After(now) {
		index++
	}
	return index
}

func (p plan) count(now time.Time) int32 { return p[p.at(now)].count }

// drawPlan draws a plan with one boundary in every one to three times a gap from now on. Three counts in a row are never the
// same, where there are so many. After its last boundary it has the default count.
func drawPlan(random *rand.Rand, now time.Time, gap time.Duration, boundaries int, counts []int32) plan {
	p := plan{{time.Time{}, defaultCount}}
	at := now.Truncate(time.Minute)
	for i := range boundaries {
		p = append(p, step{at, draw(random, counts, p)})
		if i == boundaries-1 {
			p[i+1].count = defaultCount
		}
		at = at.Add(gap * time.Duration([]int{1, 1, 1, 1, 1, 1, 2, 2, 2, 3}[random.IntN(10)]))
	}
	return p
}

func draw(random *rand.Rand, counts []int32, before plan) int32 {
	for {
		count := counts[random.IntN(len(counts))]
		last := before[len(before)-1].count
		if count != last && (len(counts) < 4 || len(before) < 2 || count != before[len(before)-2].count) {
			return count
		}
	}
}

// withGrace delays decreases. Boundaries are farther apart than the grace period is long.
func (p plan) withGrace(grace time.Duration) plan {
	delayed := plan{p[0]}
	for i, s := range p[1:] {
		if s.count < p[i].count {
			s.at = s.at.Add(grace)
		}
		delayed = append(delayed, s)
	}
	return delayed
}

// zones have the same offset all year.
var zones = map[string]time.Duration{
	"UTC": 0, "Asia/Kolkata": 330 * time.Minute, "Asia/Kathmandu": 345 * time.Minute, "America/Bogota": -300 * time.Minute,
}

// windows returns the plan as windows in a zone. They do not overlap; no window has the default count.
func (p plan) windows(zone string) []v1beta1.Window {
	local := func(t time.Time) string { return t.UTC().Add(zones[zone]).Format("15:04") }
	var windows []v1beta1.Window
	for i, s := range p[1 : len(p)-1] {
		if s.count == defaultCount {
			continue
		}
		windows = append(windows, v1beta1.Window{
			Days:  []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"},
			Start: local(s.at), End: local(p[i+2].at), Replicas: intstr.FromInt32(s.count),
		})
	}
	return windows
}

const defaultCount = 1
