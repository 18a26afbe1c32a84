package conversion

import (
	"maps"
	"slices"
)

// Review is what a write in v1alpha1 does to the v1beta1 object, apart from what v1alpha1 shows. A write must do nothing
// to that: v1alpha1 clients do not see it, and the API server's generation does not change with it.
type Review struct {
	// Hub is the object as it would be stored, as JSON.
	Hub []byte
	// Lost are the paths of fields that would be removed, and Changed of those that would be set or changed. Fields of
	// a part that the client edited or removed are not listed.
	Lost, Changed []string
	// Unclear are the stored windows of which nobody can tell what became of them.
	Unclear []Window
	// Damaged: the Annotation of a new object cannot be read. What it preserves would be lost.
	Damaged bool
}

// ReviewWrite reviews a write of a v1alpha1 object. stored is the object that is updated, as v1beta1, or nil on create; then
// Annotation is welcome, because the object may come from a backup. Both are JSON.
func ReviewWrite(stored, raw []byte) (Review, error) {
	spoke, err := parseDocument(raw)
	if err != nil {
		return Review{}, err
	}
	if spoke.isCut() {
		return Review{}, ErrCut
	}
	hub := spoke.toV1beta1()
	review := Review{Hub: encode(hub)}
	if stored == nil {
		review.Unclear, review.Damaged = spoke.reviewAnnotation()
		return review, nil
	}
	old, err := parseDocument(stored)
	if err != nil {
		return Review{}, err
	}
	before, hadSpec := decode(old["spec"]).(map[string]any)
	if !hadSpec || !decodable(old["spec"]) {
		return review, nil
	}
	var m merger
	expected, ok := m.merge(view(before), decode(spoke["spec"]), before, "spec").(map[string]any)
	actual, isObject := decode(hub["spec"]).(map[string]any)
	review.Unclear = m.doubts
	if ok && isObject && len(m.doubts) == 0 {
		review.compare(hiddenFields(expected, view(expected), "spec"), hiddenFields(actual, view(actual), "spec"))
	}
	return review, nil
}

// reviewAnnotation returns the windows in the Annotation that cannot be told in the spec beside it, and whether there is one that is
// not ours, or is no longer.
func (d document) reviewAnnotation() (unclear []Window, damaged bool) {
	a, ok := d.annotations()
	own, there := a.values[Annotation]
	if !ok || !there {
		return nil, false
	}
	p, ours := parsePayload(own)
	if !ours || p.Spec == nil {
		return nil, !ours
	}
	original := decode(p.Spec).(map[string]any)
	var m merger
	m.merge(view(original), decode(d["spec"]), original, "spec")
	return m.doubts, false
}

// compare lists how the hidden fields differ from the expected ones.
func (r *Review) compare(expected, actual map[string]any) {
	for path, value := range expected {
		if is, there := actual[path]; !there {
			r.Lost = append(r.Lost, path)
		} else if !Same(value, is) {
			r.Changed = append(r.Changed, path)
		}
	}
	for path := range maps.Keys(actual) {
		if _, known := expected[path]; !known {
			r.Changed = append(r.Changed, path)
		}
	}
	slices.Sort(r.Lost)
	slices.Sort(r.Changed)
}

// Carries reports whether a v1alpha1 object has room for what only v1beta1 can express. The argument is a v1beta1 object
// as JSON.
func Carries(hub []byte) bool {
	d, err := parseDocument(hub)
	if err != nil {
		return true
	}
	_, fits := d.toV1alpha1()
	return fits
}
