// Package conversion converts TimeWindowScalers between v1beta1, the hub and storage version, and v1alpha1, without
// loss (A1, A2). It works on JSON instead of Go types: a typed round trip turns absent into zero and empty into
// absent, and drops fields of later releases.
//
// From v1beta1 (view.go), v1alpha1 gets a view of the spec. If the view lacks something, the annotation
// kyklos.io/v1beta1-spec of the v1alpha1 object preserves the spec as JSON. Back to v1beta1 (merge.go), a three-way
// merge applies the client's edits: the base is the view of the preserved spec. match.go matches the windows of an
// edited list with the original ones.
//
//	v1beta1                       in v1alpha1                     back, unless it was edited there
//	targetRef                     the same, of any kind           the same
//	timezone, gracePeriodSeconds,
//	pause, holidays               the same                        the same
//	defaultReplicas               a percentage as its number      the percentage
//	baselineReplicas              preserved                       the same; v1alpha1 cannot edit it
//	windows[].days, start         the same                        the same
//	windows[].end                 24:00 as 00:00, and as 23:59    24:00
//	                              if start is 00:00
//	windows[].replicas            a percentage as its number      the percentage
//	windows[].name, timezone,
//	metric                        preserved                       the same, with their window
//	any other field, at any depth preserved                       the same
//	status                        the same                        the same
//	metadata                      the same and the annotation     the same; the annotation is removed
//
// Percentages are rounded up; one that cannot be computed, which v1beta1 refuses, is shown as 1. The view of a valid
// object is valid in v1alpha1, except for targets other than Deployments, which its ratcheting rules accept if
// unchanged. An invalid v1alpha1 object is restored too, except for 24:00 and fields that v1alpha1 does not have.
//
// The edits of a v1alpha1 client win, field by field. Equal windows in both lists are the same window, moved or not;
// edited ones are matched if they clearly resemble each other. Where that leaves a doubt, conversion guesses, and
// admission refuses the write (review.go): it judges each write in v1alpha1 as what it stores, and allows no change of
// what v1alpha1 does not show.
//
// The annotation is not trusted, as any client can write it. It is only used if the controller's client can decode
// its spec: the API server does not validate conversions on reads, and an object that cannot be decoded breaks every
// list. Admission refuses values that v1beta1 refuses. Conversion does not, because an object can be older than a rule,
// and must come back as it was; should one get in without admission, the controller reports it in the status and leaves
// the target alone (B5). Any other value of the annotation is kept in both versions, and so is one on a v1beta1 object.
//
// The API server limits annotations to 256 KiB, and refuses the response otherwise. The largest spec that the schema
// allows needs less than 200 KiB. An object whose other annotations leave too little room is shown with a marker in this
// one and counted as cut (room.go). It is not converted back (ErrCut), so that no write loses anything. The marker must not
// be stored: while objects may be stored as v1alpha1, such an object is not converted at all (stored.go).
//
// Conversion does not validate, and does not fail for missing or malformed parts, because managedFields contain parts
// of objects. Otherwise it fails only if the document is not a JSON object or is of another kind.
package conversion
