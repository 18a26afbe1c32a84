// Package timewindowscaler is the controller of TimeWindowScaler. One wake-up is one pass:
//
//	observe   every read
//	plan      pure: what should be, from spec, status, observation and now
//	act       the one write to the target
//	report    pure: status, events, metrics and the next wake-up, from what happened
//
// It is level-triggered (B1): what is due follows from the present alone, so a missed wake-up, a
// restart or an outage across any number of boundaries ends in one write to the right value.
package timewindowscaler
