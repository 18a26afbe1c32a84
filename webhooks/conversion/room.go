package conversion

import (
	"cmp"
	"maps"
	"slices"
)

// maxAnnotations is the API server's limit for the names and values of all annotations of an object, in bytes. It
// refuses conversions that exceed it, and with them whole lists of v1alpha1.
const maxAnnotations = 256 << 10

// size returns what the API server counts for an annotation, in bytes.
func (a annotations) size(name string) int {
	text, _ := a.text(name)
	return len(name) + len(text)
}

// room returns how many bytes an annotation may have, with its name, beside the others.
func (a annotations) room(name string) int {
	left := maxAnnotations
	for other := range a.values {
		if other != name {
			left -= a.size(other)
		}
	}
	return left
}

// withMarker replaces Annotation by the marker, and hides the largest other annotations if that is needed for it. The
// object cannot be written back, so that nothing is lost.
func (d document) withMarker(a annotations) {
	kept := maps.Clone(a.values)
	left := a.room(Annotation) - len(Annotation) - len(cutMarker)
	bySize := slices.SortedFunc(maps.Keys(a.values), func(x, y string) int { return cmp.Or(a.size(y)-a.size(x), cmp.Compare(x, y)) })
	for _, name := range bySize {
		if left >= 0 {
			break
		}
		if name != Annotation {
			delete(kept, name)
			left += a.size(name)
		}
	}
	a.values = kept
	d.setAnnotation(a, Annotation, cutMarker)
}

// isCut reports whether a v1alpha1 object carries the marker.
func (d document) isCut() bool {
	a, ok := d.annotations()
	p, ours := parsePayload(a.values[Annotation])
	return ok && ours && p.Cut
}
