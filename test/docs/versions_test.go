package docs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"

	sigsyaml "sigs.k8s.io/yaml"
)

// Both versions of the API refuse the same fields, where v1alpha1 has them. Otherwise an invariant could be bypassed.

// inV1alpha1 returns the samples that v1alpha1 can express, with their messages there.
func inV1alpha1(t *testing.T, samples []sample) []sample {
	t.Helper()
	var older []sample
	for _, s := range samples {
		said := saysV1alpha1(t, s.documents[len(s.documents)-1])
		if !said {
			if len(s.v1alpha1) > 0 {
				t.Errorf("%s: v1alpha1 cannot say this, and yet there is what it answers", s.name)
			}
			continue
		}
		o := sample{name: s.name, expect: s.v1alpha1}
		if len(o.expect) == 0 {
			o.expect = slices.Clone(s.expect)
		}
		for _, document := range s.documents {
			o.documents = append(o.documents, strings.Replace(document, "kyklos.io/v1beta1", "kyklos.io/v1alpha1", 1))
		}
		older = append(older, o)
	}
	return older
}

// saysV1alpha1 reports whether v1alpha1 can express a document, valid or not. It lacks the new fields of v1beta1,
// percentages, and targets outside of apps.
func saysV1alpha1(t *testing.T, document string) bool {
	t.Helper()
	var object struct {
		Spec struct {
			TargetRef                         struct{ APIVersion, Kind string }
			BaselineReplicas, DefaultReplicas any
			Workspace, DeletionPolicy         any
			DriftPolicy                       any
			Windows                           []map[string]any
		}
	}
	if err := sigsyaml.Unmarshal([]byte(document), &object); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	percentage := func(value any) bool {
		text, ok := value.(string)
		return ok && strings.HasSuffix(text, "%")
	}
	spec := object.Spec
	for _, window := range spec.Windows {
		if window["name"] != nil || window["timezone"] != nil || window["metric"] != nil || percentage(window["replicas"]) {
			return false
		}
	}
	if spec.DriftPolicy != nil || spec.Windows != nil && spec.DefaultReplicas == nil { // which v1alpha1 does not require
		return false
	}
	ofApps := strings.HasPrefix(cmp.Or(spec.TargetRef.APIVersion, "apps/v1"), "apps/")
	return spec.BaselineReplicas == nil && spec.Workspace == nil && spec.DeletionPolicy == nil && !percentage(spec.DefaultReplicas) && (ofApps || spec.TargetRef.Kind == "Deployment")
}

// The messages may differ between the versions, but not the fields.
func TestVersionsRefuseTheSameFields(t *testing.T) {
	compared := 0
	for _, s := range readSamples(t, "invalid/*.yaml") {
		if len(s.v1alpha1) == 0 {
			continue
		}
		compared++
		if older, newer := places(t, s.v1alpha1), places(t, s.expect); !slices.Equal(older, newer) {
			t.Errorf("%s: v1alpha1 refuses %q, v1beta1 %q", s.name, older, newer)
		}
	}
	if compared == 0 {
		t.Error("no sample reads differently in the two versions")
	}
}

// places returns the fields in messages, each once.
func places(t *testing.T, messages []string) []string {
	t.Helper()
	place := regexp.MustCompile(`\bspec(\.[A-Za-z]+|\[[0-9]+\])*`)
	var found []string
	for _, message := range messages {
		if place.FindString(message) == "" {
			t.Errorf("no field in %q", message)
		}
		found = append(found, place.FindString(message))
	}
	slices.Sort(found)
	return slices.Compact(found)
}
