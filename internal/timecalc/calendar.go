package timecalc

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The labels of status.currentWindow that are not derived from a window (B7).
const (
	LabelBusinessHours = "BusinessHours"
	LabelOffHours      = "OffHours"
	LabelHoliday       = "Holiday"
)

const noon = 12 * 60

// Calendar is what a scaler's schedule is. Zone is required; the rest may be empty.
type Calendar struct {
	Zone            *time.Location // of the dates, and of the windows without a zone of their own
	Windows         []TimeWindow
	DefaultReplicas int32
	HolidayMode     string          // "" is HolidayIgnore
	Holidays        map[string]bool // dates of Zone (B6), YYYY-MM-DD, from ParseHolidayDates
}

// Verdict is a Calendar's answer for one instant.
type Verdict struct {
	Replicas int32
	Window   int    // index of the window that decided, or -1
	Holiday  string // the local date if it is a listed holiday, in any mode, else ""
	Override bool   // the holiday decided the number, not the windows
}

// At returns the verdict for now. It allocates only on a listed holiday, for the date it reports.
func (c *Calendar) At(now time.Time) Verdict {
	local := now.In(c.Zone)
	wall := wallSeconds(local)
	verdict := Verdict{Replicas: c.DefaultReplicas, Window: -1, Holiday: c.holidayOn(wall)}
	if verdict.Holiday != "" {
		if replicas, ok := holidayReplicas(c.HolidayMode, c.Windows, c.DefaultReplicas); ok {
			verdict.Replicas, verdict.Override = replicas, true
			return verdict
		}
	}
	if i := lastCovering(c.Windows, momentAt(wall), local); i >= 0 {
		verdict.Replicas, verdict.Window = c.Windows[i].replicas, i
	}
	return verdict
}

// holidayOn returns the date that a wall clock shows if it is a listed holiday, else "".
func (c *Calendar) holidayOn(wall int64) string {
	if len(c.Holidays) == 0 {
		return ""
	}
	var buf [len("-292277022399-01-02")]byte
	date := time.Unix(wall, 0).UTC().AppendFormat(buf[:0], time.DateOnly)
	if !c.Holidays[string(date)] { // a lookup by converted bytes does not allocate
		return ""
	}
	return string(date)
}

// NextBoundary is ComputeNextBoundary for this schedule; the result is in Zone (T4).
func (c *Calendar) NextBoundary(now time.Time) time.Time {
	return ComputeNextBoundary(c.Windows, now.In(c.Zone))
}

// NextWakeUp returns the next instant, strictly after now and at most 24 h later, at which the answer
// can change (T5): the next boundary, the end of a running grace period (graceExpiry, nil for none),
// or, when holidays count, the first instant of the next date of Zone.
func (c *Calendar) NextWakeUp(now time.Time, graceExpiry *time.Time) time.Time {
	local := now.In(c.Zone)
	home := spanOf(local)
	wake := nextBoundary(c.Windows, local, home)
	if graceExpiry != nil && graceExpiry.After(now) && graceExpiry.Before(wake) {
		wake = graceExpiry.In(c.Zone)
	}
	if c.HolidayMode == HolidayClosed || c.HolidayMode == HolidayOpen {
		if date := instant(nextDate(local, home), local); date.Before(wake) {
			wake = date
		}
	}
	return wake
}

// Label names what decided v, for status.currentWindow (B7): Holiday on an open holiday, OffHours on
// a closed one and outside all windows, the window's own name where it has one, BusinessHours for the
// first listed window that looks like one unless a window is named so, and for any other a hash of
// days, start, end and the zone it is read in, so that it survives reordering.
func (c *Calendar) Label(v Verdict) string {
	switch {
	case v.Override && c.HolidayMode == HolidayOpen:
		return LabelHoliday
	case v.Override || v.Window < 0:
		return LabelOffHours
	}
	w := c.Windows[v.Window]
	switch {
	case w.name != "":
		return w.name
	case v.Window == c.businessHours():
		return LabelBusinessHours
	}
	zone := w.zoneOr(c.Zone).String()
	sum := sha256.Sum256([]byte(strings.Join(w.Days(), ",") + " " + w.Start() + "-" + w.End() + " " + zone))
	return fmt.Sprintf("%s%x", hashPrefix, sum[:3])
}

// hashPrefix starts the labels of windows without a name.
const hashPrefix = "Custom-"

// IsHash reports whether a label is a hash, which identifies a window and means nothing to people.
func IsHash(label string) bool { return strings.HasPrefix(label, hashPrefix) }

// businessHours returns the index of the window that looks like business hours first, or -1: also when
// a window is named so, because a label identifies one window. A name given to the first window does
// not pass BusinessHours on to another, whose label would change with it.
func (c *Calendar) businessHours() int {
	if slices.ContainsFunc(c.Windows, func(w TimeWindow) bool { return w.name == LabelBusinessHours }) {
		return -1
	}
	return slices.IndexFunc(c.Windows, TimeWindow.isBusinessHours)
}

// isBusinessHours reports whether the window is on weekdays only, within one day, from before noon to
// after it, all by its own clock.
func (w TimeWindow) isBusinessHours() bool {
	const weekdays dayMask = 1<<5 - 1
	return w.days&^weekdays == 0 && w.start < noon && noon < w.end
}
