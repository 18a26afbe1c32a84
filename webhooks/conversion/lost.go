package conversion

// Lost lists the fields of old that a v1alpha1 client could not see and took away by leaving out
// Annotation, as paths in obj such as spec.windows[0].timezone; what the client changed or deleted on
// purpose is not lost. Both are objects of v1beta1 as JSON, before and after the write.
func Lost(old, obj []byte) []string {
	before, err := parseDocument(old)
	if err != nil {
		return nil
	}
	after, err := parseDocument(obj)
	if err != nil {
		return nil
	}
	was, ok := decode(before["spec"]).(map[string]any)
	is, isObject := decode(after["spec"]).(map[string]any)
	if !ok || !isObject {
		return nil
	}
	// With the annotation, what was written would have become this.
	kept, ok := merge(view(was), view(is), was).(map[string]any)
	if !ok {
		return nil
	}
	var lost []string
	there := map[string]bool{}
	for _, path := range hidden(is, view(is), "spec") {
		there[path] = true
	}
	for _, path := range hidden(kept, view(kept), "spec") {
		if !there[path] {
			lost = append(lost, path)
		}
	}
	return lost
}

// Carries reports whether the v1alpha1 form of an object of v1beta1, given as JSON, has room for all
// that v1alpha1 cannot say. The annotations of an object have at most 256 KiB together.
func Carries(hub []byte) bool {
	d, err := parseDocument(hub)
	if err != nil {
		return true
	}
	_, fits := d.toV1alpha1()
	return fits
}
