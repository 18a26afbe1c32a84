// Package events makes the events of a TimeWindowScaler as plain values, and records them: each
// once in five minutes, and not more than twenty a minute for one object (B11).
// Reasons and texts are public contract.
package events

import (
	"crypto/sha256"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// The reasons (B11).
const (
	ReasonScaledUp             = "ScaledUp"
	ReasonScaledDown           = "ScaledDown"
	ReasonScalingSkipped       = "ScalingSkipped"
	ReasonWindowOverride       = "WindowOverride"
	ReasonHolidayDetected      = "HolidayDetected"
	ReasonGracePeriodStarted   = "GracePeriodStarted"
	ReasonGracePeriodCancelled = "GracePeriodCancelled"
	ReasonMissingTarget        = "MissingTarget"
	ReasonInvalidSchedule      = "InvalidSchedule"
	ReasonTargetConflict       = "TargetConflict"
	ReasonMetricUnavailable    = "MetricUnavailable"
	ReasonTargetForbidden      = "TargetForbidden"
	ReasonFieldFight           = "FieldFight"
)

// Event is one event as a value. The API folds events of the same type, action and reason without
// looking at the note, so Action ends in a digest of the note: it differs wherever the note does (B11).
type Event struct {
	Type   string // corev1.EventTypeNormal or EventTypeWarning
	Reason string
	Action string
	Note   string
}

// Cause says why a target is scaled; it is the end of the note.
type Cause struct {
	// Window is the window that decides; HolidayMode is set instead if a holiday does.
	Window      string
	HolidayMode string
	// Metric is the window's metric if that decides the count.
	Metric string
	// Drift: others changed the replica count, and this sets it right.
	Drift bool
	// GraceSeconds is above 0 if a grace period of that length has just ended.
	GraceSeconds int32
}

func (c Cause) String() string {
	switch {
	case c.GraceSeconds > 0:
		return fmt.Sprintf("after %ds grace period", c.GraceSeconds)
	case c.HolidayMode != "":
		return fmt.Sprintf("(holiday: %s)", c.HolidayMode)
	default:
		return "(" + c.Decider() + ")"
	}
}

// Decider names the window, and the metric if one decides for it.
func (c Cause) Decider() string {
	if c.Metric == "" {
		return "window: " + c.Window
	}
	return fmt.Sprintf("window: %s, metric %s", c.Window, c.Metric)
}

// EmitScale makes the event for a change of the target from one replica count to another: ScaledUp
// or ScaledDown (B11).
func EmitScale(from, to int32, cause Cause) Event {
	reason, direction := ReasonScaledUp, "up"
	if to < from {
		reason, direction = ReasonScaledDown, "down"
	}
	note := fmt.Sprintf("Scaled %s from %d to %d replicas %s", direction, from, to, cause)
	action := fmt.Sprintf("ScaleFrom%dTo%d", from, to)
	if cause.Drift {
		note = fmt.Sprintf("Corrected manual drift: scaled %s from %d to %d replicas %s", direction, from, to, cause)
		action = fmt.Sprintf("CorrectDriftFrom%dTo%d", from, to)
	}
	return normal(reason, action, note)
}

// Why scaling is skipped (B11). A target that is not found has its own event.
const (
	SkippedByPause  = "pause"
	SkippedByServer = "UpdateFailed"
)

// EmitScalingSkipped says what would have been done, and why it was not.
func EmitScalingSkipped(current, desired int32, why string) Event {
	return normal(ReasonScalingSkipped, fmt.Sprintf("SkipFrom%dTo%d", current, desired),
		fmt.Sprintf("Scaling skipped due to %s: current=%d, desired=%d", why, current, desired))
}

// EmitHolidayDetected says that date, yyyy-mm-dd, is a listed holiday.
func EmitHolidayDetected(date, mode string) Event {
	return normal(ReasonHolidayDetected, "DetectHoliday"+date,
		fmt.Sprintf("Holiday detected for %s (mode: %s)", date, mode))
}

// EmitWindowOverride says that the holiday, not a window, decides; how is "closed" or "open".
func EmitWindowOverride(date, how string, replicas int32) Event {
	return normal(ReasonWindowOverride, fmt.Sprintf("Override%sWith%d", date, replicas),
		fmt.Sprintf("Holiday %s: treating as %s, using %d replicas", date, how, replicas))
}

// EmitGracePeriodStarted says that scaling down to the given count waits.
func EmitGracePeriodStarted(seconds, to int32) Event {
	return normal(ReasonGracePeriodStarted, fmt.Sprintf("HoldBefore%d", to),
		fmt.Sprintf("Grace period started: %ds before scaling to %d replicas", seconds, to))
}

// EmitGracePeriodCancelled says that the lower count is no longer due.
func EmitGracePeriodCancelled(replicas int32) Event {
	return normal(ReasonGracePeriodCancelled, fmt.Sprintf("Keep%d", replicas),
		fmt.Sprintf("Grace period cancelled: %d replicas are desired again", replicas))
}

// EmitMissingTarget says that the target, or its very kind, does not exist.
func EmitMissingTarget(detail string) Event {
	return warning(ReasonMissingTarget, "FindTarget", detail)
}

// EmitTargetForbidden says which permission is missing for the target's kind.
func EmitTargetForbidden(detail string) Event {
	return warning(ReasonTargetForbidden, "ReadTarget", detail)
}

// EmitInvalidSchedule says why the schedule cannot be followed.
func EmitInvalidSchedule(detail string) Event {
	return warning(ReasonInvalidSchedule, "ReadSchedule", detail)
}

// EmitTargetConflict says who else scales the same target.
func EmitTargetConflict(detail string) Event {
	return warning(ReasonTargetConflict, "OwnTarget", detail)
}

// EmitMetricUnavailable says that a window's metric has had no value for several polls.
func EmitMetricUnavailable(detail string) Event {
	return warning(ReasonMetricUnavailable, "PollMetric", detail)
}

// EmitFieldFight says who rewrites the target's count again and again.
func EmitFieldFight(detail string) Event {
	return warning(ReasonFieldFight, "CorrectTarget", detail)
}

func normal(reason, action, note string) Event {
	return Event{Type: corev1.EventTypeNormal, Reason: reason, Action: distinct(action, note), Note: note}
}

func warning(reason, action, note string) Event {
	return Event{Type: corev1.EventTypeWarning, Reason: reason, Action: distinct(action, note), Note: note}
}

func distinct(action, note string) string {
	digest := sha256.Sum256([]byte(note))
	return fmt.Sprintf("%s-%x", action, digest[:4])
}
