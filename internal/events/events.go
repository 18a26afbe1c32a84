// Package events makes events as plain values, and publishes them: each once in five minutes, and not more
// than twenty a minute for one object (B11). Reasons and texts are public contract.
package events

import (
	"crypto/sha256"
	"fmt"
	"strings"

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
	ReasonTargetUnavailable    = "TargetUnavailable"
	ReasonScaleFailed          = "ScaleFailed"
	ReasonLeftSuspended        = "LeftSuspended"
	ReasonStatusRefused        = "StatusRefused"
	ReasonKeptArchived         = "KeptArchived"
)

// Event is one event as a value. The API merges events of the same type, action and reason whatever their
// note, so Action ends in a digest of the note (B11).
type Event struct {
	Type   string // corev1.EventTypeNormal or EventTypeWarning
	Reason string
	Action string
	Note   string
}

// Cause is why a target is scaled; the note ends with it.
type Cause struct {
	// Window is the window that decides; HolidayMode is set instead if a holiday does.
	Window      string
	HolidayMode string
	// Metric is the window's metric if that decides the count.
	Metric string
	// Drift: others changed the target, and this corrects it.
	Drift bool
	// GraceSeconds is the length of a grace period that has just ended.
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

// EmitScale makes the event for a change of the target: ScaledUp or ScaledDown (B11).
// done describes it, and action names it.
func EmitScale(up bool, action, done string, cause Cause) Event {
	reason := ReasonScaledDown
	if up {
		reason = ReasonScaledUp
	}
	if cause.Drift {
		return normal(reason, action+"CorrectingDrift", fmt.Sprintf("Corrected manual drift: %s %s", done, cause))
	}
	return normal(reason, action, fmt.Sprintf("%s%s %s", strings.ToUpper(done[:1]), done[1:], cause))
}

// Why scaling is skipped (B11). A missing target has its own event.
const (
	SkippedByPause  = "pause"
	SkippedByServer = "UpdateFailed"
)

// EmitScalingSkipped says which change was not made, and why.
func EmitScalingSkipped(current, desired, why string) Event {
	return normal(ReasonScalingSkipped, "SkipScaling",
		fmt.Sprintf("Scaling skipped due to %s: current=%s, desired=%s", why, current, desired))
}

// EmitKeptArchived says that a window does not start an archived Workspace, and why.
func EmitKeptArchived(why string, cause Cause) Event {
	return normal(ReasonKeptArchived, "LeaveArchived", fmt.Sprintf("Workspace stays archived, because %s %s", why, cause))
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

// EmitGracePeriodStarted says what the grace period delays.
func EmitGracePeriodStarted(seconds int32, before string) Event {
	return normal(ReasonGracePeriodStarted, "DelayScalingDown", fmt.Sprintf("Grace period started: %ds before %s", seconds, before))
}

// EmitGracePeriodChanged says how long a grace period is in all that was edited while it runs.
func EmitGracePeriodChanged(seconds int32, before string) Event {
	return normal(ReasonGracePeriodStarted, "ChangeDelay", fmt.Sprintf("Grace period changed: %ds in all before %s", seconds, before))
}

// EmitGracePeriodCancelled says what happens instead of scaling down.
func EmitGracePeriodCancelled(instead string) Event {
	return normal(ReasonGracePeriodCancelled, "CancelScalingDown", "Grace period cancelled: "+instead)
}

// actions are those of the warnings.
var actions = map[string]string{
	ReasonMissingTarget:     "FindTarget",
	ReasonTargetForbidden:   "ReadTarget",
	ReasonInvalidSchedule:   "ReadSchedule",
	ReasonTargetConflict:    "OwnTarget",
	ReasonMetricUnavailable: "PollMetric",
	ReasonFieldFight:        "CorrectTarget",
	ReasonTargetUnavailable: "ReadTarget",
	ReasonScaleFailed:       "ScaleTarget",
	ReasonStatusRefused:     "WriteStatus",
}

// EmitWarning makes a warning with one of the reasons above.
func EmitWarning(reason, detail string) Event { return warning(reason, actions[reason], detail) }

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
