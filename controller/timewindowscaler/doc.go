// Package timewindowscaler is the controller of TimeWindowScaler. One reconciliation is one pass:
//
//	observe   all reads
//	plan      pure: what should be, from spec, status, observation and now
//	act       the one write to the target
//	report    pure: status and events, from what happened
//
// Then the status is written and the events are published. It is level-triggered (B1): what is due follows
// from the present alone, so a missed wake-up, a restart or an outage across any number of boundaries ends in
// one write of the right value.
package timewindowscaler
