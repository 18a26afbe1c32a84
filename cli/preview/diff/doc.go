// Package compare says what a change of manifests does to the coming weeks: which transitions of which schedules come,
// go or move, and how many replica-hours that costs or saves. It is pure, and goes by timelines alone (internal/preview).
package diff
