// Package preview works out what a schedule will do: every instant at which its count changes in a stretch of time, why, and what
// that adds up to. It is pure, and thin over internal/timecalc: the package finds out nothing about the clock by itself.
//
// A timeline is what the schedule asks for. A grace period keeps the higher count for some time longer; a transition then says until when.
package timeline
