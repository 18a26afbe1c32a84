package events_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/events"
	"kyklos.io/kyklos/internal/golden"
)

// Types, reasons and notes are a public contract, to the letter; notes are in the golden file.
func TestTexts(t *testing.T) {
	hours := events.Cause{Window: "BusinessHours"}
	messages := golden.NewMessages(t)
	for name, tc := range map[string]struct {
		ev           events.Event
		kind, reason string
	}{
		"entering a window":                  {events.EmitScale(true, "Scale", "scaled up from 2 to 10 replicas", hours), "Normal", "ScaledUp"},
		"leaving a window without grace":     {events.EmitScale(false, "Scale", "scaled down from 10 to 2 replicas", events.Cause{Window: "OffHours"}), "Normal", "ScaledDown"},
		"after a grace period":               {events.EmitScale(false, "Scale", "scaled down from 10 to 2 replicas", events.Cause{Window: "OffHours", GraceSeconds: 300}), "Normal", "ScaledDown"},
		"on a closed holiday":                {events.EmitScale(false, "Scale", "scaled down from 10 to 0 replicas", events.Cause{Window: "OffHours", HolidayMode: "treat-as-closed"}), "Normal", "ScaledDown"},
		"a holiday's grace period has ended": {events.EmitScale(false, "Scale", "scaled down from 10 to 0 replicas", events.Cause{HolidayMode: "treat-as-closed", GraceSeconds: 60}), "Normal", "ScaledDown"},
		"B11, drift upwards":                 {events.EmitScale(false, "Scale", "scaled down from 15 to 10 replicas", events.Cause{Window: "BusinessHours", Drift: true}), "Normal", "ScaledDown"},
		"B11, drift downwards":               {events.EmitScale(true, "Scale", "scaled up from 3 to 10 replicas", events.Cause{Window: "BusinessHours", Drift: true}), "Normal", "ScaledUp"},
		"paused":                             {events.EmitScalingSkipped("5", "10", events.SkippedByPause), "Normal", "ScalingSkipped"},
		"refused":                            {events.EmitScalingSkipped("5", "10", events.SkippedByServer), "Normal", "ScalingSkipped"},
		"archived, and unused":               {events.EmitKeptArchived("it was not used since 2026-02-20T09:00:00Z", hours), "Normal", "KeptArchived"},
		"holiday":                            {events.EmitHolidayDetected("2025-12-25", "treat-as-closed"), "Normal", "HolidayDetected"},
		"holiday overrides":                  {events.EmitWindowOverride("2025-12-25", "closed", 0), "Normal", "WindowOverride"},
		"grace period":                       {events.EmitGracePeriodStarted(300, "scaling to 2 replicas"), "Normal", "GracePeriodStarted"},
		"grace period edited":                {events.EmitGracePeriodChanged(160, "scaling to 2 replicas"), "Normal", "GracePeriodStarted"},
		"grace period cancelled":             {events.EmitGracePeriodCancelled("10 replicas are desired again"), "Normal", "GracePeriodCancelled"},
		"missing target":                     {events.EmitWarning(events.ReasonMissingTarget, "Target Deployment production/webapp not found; create it, correct spec.targetRef, or delete this TimeWindowScaler if it is not needed any more"), "Warning", "MissingTarget"},
		"invalid schedule":                   {events.EmitWarning(events.ReasonInvalidSchedule, "spec.timezone: no such zone"), "Warning", "InvalidSchedule"},
		"no permission":                      {events.EmitWarning(events.ReasonTargetForbidden, "Kyklos has no permission"), "Warning", "TargetForbidden"},
		"a message with a capital":           {events.EmitScale(false, "Suspend", "DaemonSet suspended", events.Cause{Window: "OffHours"}), "Normal", "ScaledDown"},
		"drift of a target without a count":  {events.EmitScale(false, "Suspend", "DaemonSet suspended", events.Cause{Window: "OffHours", Drift: true}), "Normal", "ScaledDown"},
		"second owner":                       {events.EmitWarning(events.ReasonTargetConflict, "web belongs to another"), "Warning", "TargetConflict"},
		"a metric decides":                   {events.EmitScale(true, "Scale", "scaled up from 2 to 7 replicas", events.Cause{Window: "peak", Metric: "queue_depth"}), "Normal", "ScaledUp"},
		"a metric fails":                     {events.EmitWarning(events.ReasonMetricUnavailable, "Metric queue_depth has no value"), "Warning", "MetricUnavailable"},
		"left suspended":                     {events.EmitLeftSuspended("agent"), "Warning", "LeftSuspended"},
		"resumed after a deletion":           {events.EmitResumedAfterDeletion(), "Normal", "ScaledUp"},
		"a status":                           {events.EmitWarning(events.ReasonStatusRefused, "The API server refuses the new status"), "Warning", "StatusRefused"},
		"a fight":                            {events.EmitWarning(events.ReasonFieldFight, "Field manager kubectl rewrites the replicas"), "Warning", "FieldFight"},
	} {
		if tc.ev.Type != tc.kind || tc.ev.Reason != tc.reason {
			t.Errorf("%s: got %+v, want %s %s", name, tc.ev, tc.kind, tc.reason)
		}
		messages.Add(name, tc.ev.Note)
	}
}

// anyEvent makes events of every kind, with values that often differ in a single part.
var anyEvent = rapid.Custom(func(t *rapid.T) events.Event {
	from, to := rapid.Int32Range(0, 3).Draw(t, "from"), rapid.Int32Range(0, 3).Draw(t, "to")
	text := rapid.SampledFrom([]string{"", "a", "b", strings.Repeat("é", 2000)}).Draw(t, "text")
	switch rapid.IntRange(0, 10).Draw(t, "kind") {
	case 0:
		return events.EmitScale(from < to, "Scale", fmt.Sprintf("scaled from %d to %d", from, to), events.Cause{
			Window:       text,
			Metric:       rapid.SampledFrom([]string{"", "queue_depth"}).Draw(t, "metric"),
			HolidayMode:  rapid.SampledFrom([]string{"", "treat-as-open"}).Draw(t, "mode"),
			Drift:        rapid.Bool().Draw(t, "drift"),
			GraceSeconds: rapid.Int32Range(0, 2).Draw(t, "grace"),
		})
	case 1:
		return events.EmitScalingSkipped(fmt.Sprint(from), fmt.Sprint(to), text)
	case 2:
		return events.EmitHolidayDetected("2025-12-25", text)
	case 3:
		return events.EmitWindowOverride("2025-12-25", rapid.SampledFrom([]string{"open", "closed"}).Draw(t, "how"), to)
	case 4:
		return events.EmitGracePeriodStarted(from, fmt.Sprintf("scaling to %d", to))
	case 5:
		return events.EmitGracePeriodCancelled(fmt.Sprint(to))
	case 6:
		return events.EmitWarning(events.ReasonMissingTarget, text)
	case 7:
		return events.EmitWarning(events.ReasonInvalidSchedule, text)
	case 8:
		return events.EmitWarning(events.ReasonMetricUnavailable, text)
	case 9:
		return events.EmitWarning(events.ReasonFieldFight, text)
	default:
		return events.EmitWarning(events.ReasonTargetConflict, text)
	}
})

// The API server folds events of one type, action and reason into the first one's note (B11).
func TestWhereNotesDifferActionsDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyEvent.Draw(t, "a"), anyEvent.Draw(t, "b")
		folded := a.Type == b.Type && a.Action == b.Action && a.Reason == b.Reason
		if folded != (a == b) {
			t.Fatalf("the API server would show %+v as %+v", b, a)
		}
	})
}

// The API server refuses an event without action, and bounds action and reason at 128.
func TestEventsKeepTheAPIsBounds(t *testing.T) {
	camelCase := regexp.MustCompile(`^[A-Z][A-Za-z]{1,127}$`)
	rapid.Check(t, func(t *rapid.T) {
		ev := anyEvent.Draw(t, "event")
		if ev.Action == "" || len(ev.Action) > 128 {
			t.Errorf("action %q of %d bytes", ev.Action, len(ev.Action))
		}
		if !camelCase.MatchString(ev.Reason) {
			t.Errorf("reason %q", ev.Reason)
		}
		if ev.Type != corev1.EventTypeNormal && ev.Type != corev1.EventTypeWarning {
			t.Errorf("type %q", ev.Type)
		}
	})
}
