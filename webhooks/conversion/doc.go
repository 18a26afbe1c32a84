// Package conversion converts TimeWindowScalers between v1beta1, the hub, which is stored, and
// v1alpha1, without loss (A1, A2). It works on JSON and not on Go types: a typed round trip changes
// absent into zero and empty into absent, and drops fields of later releases.
//
// view.go is the way down: what v1alpha1 shows of a v1beta1 spec. Where that says less, the spec rides
// along as JSON in the annotation kyklos.io/v1beta1-spec, on the v1alpha1 form only. merge.go is the
// way up: three ways, between the view of the spec that rides, what the v1alpha1 client made of it, and
// the spec that rides. align.go finds out which window was which. The rest is plumbing.
//
//	v1beta1                       in v1alpha1                     back, unless it was edited there
//	targetRef                     the same, of any kind           the same
//	timezone, gracePeriodSeconds,
//	pause, holidays               the same                        the same
//	defaultReplicas               a percentage as its number      the percentage
//	baselineReplicas              rides                           as it was; v1alpha1 cannot edit it
//	windows[].days, start         the same                        the same
//	windows[].end                 24:00 as 00:00, and as 23:59    24:00
//	                              where start is 00:00
//	windows[].replicas            a percentage as its number      the percentage
//	windows[].name, timezone,
//	metric                        ride                            as they were, with their window
//	any other field, at any depth rides                           as it was
//	status                        the same                        the same
//	metadata                      the same and the annotation     the same; the annotation goes
//
// A percentage is rounded up; one that cannot be computed is refused by both versions and shown as it
// is. Views of valid objects are valid in v1alpha1, but for targets other than a Deployment, which its
// ratcheting rules let stay and not be chosen. An object of v1alpha1 that its rules refuse comes back
// as it was too, but for 24:00, and but for fields that it does not have: they ride.
//
// What a v1alpha1 client edits, adds or takes away wins, field by field. Windows that are equal in
// both lists are the same window, moved or not; of edited ones, those that share the most fields. Two
// windows that look alike in v1alpha1 are told apart by their order alone. A client that leaves the
// annotation out loses what only v1beta1 can say; admission warns (Lost).
//
// The annotation is not to be trusted: anybody may write one. It counts only if the controller's client
// could decode its spec, because on reads nobody validates what conversion returns, and one object that
// cannot be decoded breaks every list. Values that v1beta1's rules would refuse can still come in by
// it; the controller names them in the status (B5). An annotation that is no payload stays as it is, in
// both versions, and so does one on an object of v1beta1: it rides too.
//
// The API server allows 256 KiB of annotations and refuses the whole answer beyond them. Names, zones
// and percentages of 100 windows need less than 50 KiB; 20 metrics with selectors of the greatest
// length need more than there is. Such an object is shown without the annotation, counted as cut, and
// admission refuses to edit it in v1alpha1 (Carries).
//
// Nothing is validated and nothing fails, also where parts are missing or malformed: managedFields are
// kept with parts of objects. What is no object, or of another kind, is an error.
package conversion
