package lint

import (
	"kyklos.io/kyklos/cli/manifest"
)

// Summary is what was looked at, whatever was found.
type Summary struct {
	// Judged are the objects that were judged, in the order of their set.
	Judged []*manifest.Object
	// Foreign is the number of objects that were not: their kinds are none of Kyklos's.
	Foreign int
	// Files is the number of files that were read.
	Files int
}
