package conversion

import (
	"encoding/json"
	"maps"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// ToV1alpha1 converts a TimeWindowScaler of v1beta1, as JSON. It fails only on what is no JSON object.
func ToV1alpha1(raw []byte) ([]byte, error) {
	hub, err := parseDocument(raw)
	if err != nil {
		return nil, err
	}
	spoke, _ := hub.toV1alpha1()
	return encode(spoke), nil
}

// ToV1beta1 converts a TimeWindowScaler of v1alpha1, as JSON. It fails only on what is no JSON object.
func ToV1beta1(raw []byte) ([]byte, error) {
	spoke, err := parseDocument(raw)
	if err != nil {
		return nil, err
	}
	return encode(spoke.toV1beta1()), nil
}

// toV1alpha1 shows the spec as v1alpha1 can; where that says less, the annotation carries the spec.
// fits is false if there is no room for it beside the object's other annotations: the API server
// would refuse the answer and, with it, every list of v1alpha1 that the object is part of.
func (d document) toV1alpha1() (spoke document, fits bool) {
	spoke = d.withVersion(v1alpha1.GroupVersion.String())
	a, ok := spoke.annotations()
	if !ok {
		return spoke, true
	}
	p, shown := d.toCarry(a)
	if p.Spec == nil && p.Annotation == nil {
		return spoke, true
	}
	if shown != nil {
		spoke["spec"] = encode(shown)
	}
	if a.raw != nil && isNothing(a.raw) {
		p.Annotations = a.raw
	}
	text := p.text()
	if a.size(Annotation)+len(Annotation)+len(text) > maxAnnotations {
		return spoke, false
	}
	spoke.setAnnotation(a, Annotation, text)
	return spoke, true
}

// toCarry returns what v1alpha1 cannot say, and the view of the spec if that is part of it.
func (d document) toCarry(a annotations) (p payload, shown map[string]any) {
	if spec, ok := decode(d["spec"]).(map[string]any); ok && readable(d["spec"]) {
		if s := view(spec); !Same(s, spec) {
			p.Spec, shown = d["spec"], s
		}
	}
	own, there := a.values[Annotation]
	if !there {
		return p, shown
	}
	text, isText := a.text(Annotation)
	if !isText {
		return payload{}, nil // no place to carry anything; no API server lets this happen
	}
	if _, looksLikeOurs := parsePayload(own); looksLikeOurs || p.Spec != nil {
		p.Annotation = &text
	}
	return p, shown
}

// toV1beta1 takes the spec as it is, or, with an annotation of toV1alpha1, brings the changes since
// then into the spec that it carries.
func (d document) toV1beta1() document {
	hub := d.withVersion(v1beta1.GroupVersion.String())
	a, ok := hub.annotations()
	if !ok {
		return hub
	}
	p, ok := parsePayload(a.values[Annotation])
	if !ok {
		return hub
	}
	if p.Spec != nil {
		hub.mergeSpec(p.Spec)
	}
	hub.dropAnnotation(a, p)
	return hub
}

// mergeSpec brings the document's spec into the carried one. A spec that was taken away stays away.
func (d document) mergeSpec(carried json.RawMessage) {
	theirs, there := d["spec"]
	if !there {
		return
	}
	ours := decode(carried)
	d["spec"] = encode(merge(view(ours.(map[string]any)), decode(theirs), ours))
}

// dropAnnotation leaves the annotations as the v1beta1 form had them, and with a v1alpha1 client's
// changes to others.
func (d document) dropAnnotation(a annotations, p payload) {
	values := maps.Clone(a.values)
	delete(values, Annotation)
	if p.Annotation != nil {
		values[Annotation] = encode(*p.Annotation)
	}
	if len(values) == 0 {
		d.setMetadata(a, p.Annotations)
		return
	}
	d.setMetadata(a, encode(values))
}
