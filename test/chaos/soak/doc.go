// Package soak runs the manager under a seeded random mix of faults for as long as it is told.
//
// Hundreds of scalers of every kind of target have boundaries at minutes of real time, on a machine that is busy with something
// else fewer of them. Two managers serve them, each
// behind a proxy. Storms of faults hit the managers, their connections, the API server, its store and the objects. A
// model of minutes and counts, which shares no code with the engine, judges every write when it is made, and between the
// storms what every target has:
//
//   - A write sets a count that the schedule asks for, now or a moment ago, and never one before its boundary.
//   - No write goes back to an older spec or an earlier boundary than the write before.
//   - No count is written twice for one cause, and no field but the count is written.
//   - Once no fault is active, every target has its count and every status says so. A slow machine has more time for that, as long
//     as the managers go on writing.
//
// `make soak SOAK=1h` runs it. The same seed draws the same schedules and faults.
package soak
