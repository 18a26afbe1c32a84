// Package timewindowscaler is the controller of TimeWindowScaler. One reconciliation is one pass:
//
//	observe   all reads
//	plan      pure: what should be, from spec, status, observation and now
//	act       the one write to the target
//	report    pure: status and events, from what happened
//
// Then, when it is the scaler's turn, a pass writes the status and publishes the events: targets go first (B18).
// It is level-triggered (B1): what is due follows from the present alone, so a missed wake-up, a restart or an
// outage across any number of boundaries ends in one write of the right value.
package timewindowscaler
