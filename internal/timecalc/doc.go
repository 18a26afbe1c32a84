// Package timecalc is the time engine of Kyklos: which window covers an instant, how many replicas
// that asks for, and when to evaluate again. It is pure (R14): the present
// is always an argument, nothing is cached, logged or changed, and it knows nothing of Kubernetes.
//
// Three rules hold everywhere (docs/semantics.md explains them to users):
//
//   - A window covers an instant when the local civil time of that instant, weekday and HH:MM, lies in
//     [start, end) (T1). Durations and daylight saving flags play no part. Local is where the window's
//     own zone is, if it has one, and else the schedule's.
//   - A window that crosses midnight belongs to the day it starts on (T2).
//   - Wall time is turned into instants only inside one span of constant offset, found with
//     ZoneEnd (T3). time.Date is not used for this: it is unspecified for the wall times
//     that a clock change skips or repeats.
package timecalc
