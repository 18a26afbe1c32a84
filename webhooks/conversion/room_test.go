package conversion

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// sizeOf is what the API server counts for the annotations of an object.
func sizeOf(o map[string]any) (size int) {
	annotations, _ := o["metadata"].(map[string]any)["annotations"].(map[string]any)
	for name, value := range annotations {
		size += len(name) + len(value.(string))
	}
	return size
}

// To the byte: what fits is preserved, and what does not is marked, within the API server's limit and whatever other
// annotations there are. A marked object is not converted back.
func TestRoom(t *testing.T) {
	const preserved = `{"spec":{"baselineReplicas":1}}`
	spare := maxAnnotations - len(Annotation) - len(preserved)
	many := func(total int) map[string]any {
		annotations := map[string]any{}
		for total > 100 {
			name := fmt.Sprintf("a%06d", len(annotations))
			value := strings.Repeat("x", 50)
			annotations[name] = value
			total -= len(name) + len(value)
		}
		annotations["last"] = strings.Repeat("x", total-len("last"))
		return annotations
	}
	for name, tc := range map[string]struct {
		others map[string]any
		fits   bool
	}{
		"one, just small enough":  {map[string]any{"big": strings.Repeat("x", spare-3)}, true},
		"one, a byte too large":   {map[string]any{"big": strings.Repeat("x", spare-2)}, false},
		"one that fills all":      {map[string]any{"big": strings.Repeat("x", maxAnnotations-3)}, false},
		"one beside a small one":  {map[string]any{"big": strings.Repeat("x", maxAnnotations-30), "small": "kept"}, false},
		"many that fill all":      {many(maxAnnotations), false},
		"quotes count once":       {map[string]any{"big": strings.Repeat(`"`, spare-3)}, true},
		"characters of two bytes": {map[string]any{"big": strings.Repeat("é", (spare-3)/2)}, true},
	} {
		t.Run(name, func(t *testing.T) {
			hub := fromYAML(t, `{metadata: {}, spec: {baselineReplicas: 1}}`)
			hub["metadata"].(map[string]any)["annotations"] = tc.others
			if before := sizeOf(hub); before > maxAnnotations {
				t.Fatalf("%d bytes cannot be stored", before)
			}
			spoke := there(t, hub, ToV1alpha1)
			shown := spoke["metadata"].(map[string]any)["annotations"].(map[string]any)
			want := preserved
			if !tc.fits {
				want = cutMarker
			}
			if shown[Annotation] != want || sizeOf(spoke) > maxAnnotations || Carries(encode(hub)) != tc.fits {
				t.Errorf("got the annotation %q, %d bytes in all, carries %t", shown[Annotation], sizeOf(spoke), Carries(encode(hub)))
			}
			if small, there := tc.others["small"]; there && shown["small"] != small {
				t.Error("hid more than was needed")
			}
			if _, err := ToV1beta1(encode(spoke)); errors.Is(err, ErrCut) == tc.fits {
				t.Errorf("back to v1beta1: %v", err)
			}
		})
	}
}

// An annotation of a v1beta1 object that looks like the marker is an annotation like others.
func TestMarkerOfAUser(t *testing.T) {
	hub := fromYAML(t, `{metadata: {annotations: {kyklos.io/v1beta1-spec: '{"cut":true}'}}, spec: {baselineReplicas: 1}}`)
	hub["apiVersion"] = "kyklos.io/v1beta1"
	if back := there(t, hub, ToV1alpha1, ToV1beta1); !Same(hub, back) {
		t.Errorf("%v became %v", hub, back)
	}
}
