package conversion

import (
	"encoding/json"
	"fmt"
	"maps"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
)

// ErrCut is why a v1alpha1 object cannot be converted back.
var ErrCut = fmt.Errorf("this object cannot be written in %s: its other annotations leave no room for %s, which preserves what %s cannot express; "+
	"use %s, or make the annotations smaller (limit %d KiB)", v1alpha1.GroupVersion, Annotation, v1alpha1.GroupVersion.Version, v1beta1.GroupVersion, maxAnnotations>>10)

// ToV1alpha1 converts a TimeWindowScaler of v1beta1, as JSON. It fails only if raw is not a JSON object.
func ToV1alpha1(raw []byte) ([]byte, error) {
	hub, err := parseDocument(raw)
	if err != nil {
		return nil, err
	}
	spoke, _ := hub.toV1alpha1()
	return encode(spoke), nil
}

// ToV1beta1 converts a TimeWindowScaler of v1alpha1, as JSON. It fails if raw is not a JSON object, and with ErrCut if
// something would be lost because the v1alpha1 object had no room for it.
func ToV1beta1(raw []byte) ([]byte, error) {
	spoke, err := parseDocument(raw)
	if err != nil {
		return nil, err
	}
	if spoke.isCut() {
		return nil, ErrCut
	}
	return encode(spoke.toV1beta1()), nil
}

// toV1alpha1 replaces the spec by its view, and preserves the spec in the annotation if they differ. If there is no room
// for that, fits is false and the annotation is the marker: without it the API server would refuse the response, and
// with it every list in v1alpha1.
func (d document) toV1alpha1() (spoke document, fits bool) {
	spoke = d.withVersion(v1alpha1.GroupVersion.String())
	a, ok := spoke.annotations()
	if !ok {
		return spoke, true
	}
	p, shown := d.preserved(a)
	if p.Spec == nil && p.Annotation == nil {
		return spoke, true
	}
	if shown != nil {
		spoke["spec"] = encode(shown)
	}
	if a.raw != nil && isEmpty(a.raw) {
		p.Annotations = a.raw
	}
	text := p.text()
	if len(Annotation)+len(text) > a.room(Annotation) {
		spoke.withMarker(a)
		return spoke, false
	}
	spoke.setAnnotation(a, Annotation, text)
	return spoke, true
}

// preserved returns what the annotation must contain, and the view of the spec if it differs from the spec.
func (d document) preserved(a annotations) (p payload, shown map[string]any) {
	if spec, ok := decode(d["spec"]).(map[string]any); ok && decodable(d["spec"]) {
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
		return payload{}, nil // invalid; no API server accepts this
	}
	if _, looksLikeOurs := parsePayload(own); looksLikeOurs || p.Spec != nil {
		p.Annotation = &text
	}
	return p, shown
}

// toV1beta1 keeps the spec, or applies its edits to the spec in an annotation of toV1alpha1.
func (d document) toV1beta1() document {
	hub := d.withVersion(v1beta1.GroupVersion.String())
	a, ok := hub.annotations()
	if !ok {
		return hub
	}
	p, ok := parsePayload(a.values[Annotation])
	if !ok || p.Cut {
		return hub
	}
	if p.Spec != nil {
		hub.mergeSpec(p.Spec)
	}
	hub.dropAnnotation(a, p)
	return hub
}

// mergeSpec applies the edits in the document's spec to the preserved one. A spec that was removed stays removed.
func (d document) mergeSpec(preserved json.RawMessage) {
	if edited, ok := d["spec"]; ok {
		original := decode(preserved)
		d["spec"] = encode(new(merger).merge(view(original.(map[string]any)), decode(edited), original, "spec"))
	}
}

// dropAnnotation restores the annotations of the v1beta1 object, with a v1alpha1 client's edits to others.
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
