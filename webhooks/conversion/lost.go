package conversion

// Lost returns the fields of old that a v1alpha1 client did not see and removed by leaving out Annotation, as paths
// in obj such as spec.windows[0].timezone. Fields that the client edited or deleted are not lost. Both arguments
// are v1beta1 objects as JSON, before and after the write.
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
	// The result if the client had kept the annotation.
	kept, ok := merge(view(was), view(is), was).(map[string]any)
	if !ok {
		return nil
	}
	var lost []string
	present := map[string]bool{}
	for _, path := range hiddenFields(is, view(is), "spec") {
		present[path] = true
	}
	for _, path := range hiddenFields(kept, view(kept), "spec") {
		if !present[path] {
			lost = append(lost, path)
		}
	}
	return lost
}

// Carries reports whether the fields that v1alpha1 lacks fit into Annotation: the annotations of an object have a
// limit of 256 KiB. The argument is a v1beta1 object as JSON.
func Carries(hub []byte) bool {
	d, err := parseDocument(hub)
	if err != nil {
		return true
	}
	_, fits := d.toV1alpha1()
	return fits
}
