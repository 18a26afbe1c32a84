package conversion

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// fromYAML reads an object or a part of one.
func fromYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	raw, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return decode(raw).(map[string]any)
}

// Each row of the table in doc.go.
func TestView(t *testing.T) {
	for name, tc := range map[string]struct{ hub, spoke string }{
		"a percentage, rounded up":        {`{baselineReplicas: 3, defaultReplicas: "50%"}`, `{defaultReplicas: 2}`},
		"a percentage of nothing known":   {`{defaultReplicas: "50%"}`, `{defaultReplicas: "50%"}`},
		"a text that is no percentage":    {`{baselineReplicas: 3, defaultReplicas: "many"}`, `{defaultReplicas: "many"}`},
		"a window's name, zone, metric":   {`{windows: [{name: a, timezone: UTC, metric: {name: q, maxReplicas: 3}, replicas: 2}]}`, `{windows: [{replicas: 2}]}`},
		"the end of the day":              {`{windows: [{start: "09:00", end: "24:00", replicas: "200%"}], baselineReplicas: 4}`, `{windows: [{start: "09:00", end: "00:00", replicas: 8}]}`},
		"a whole day":                     {`{windows: [{start: "00:00", end: "24:00"}]}`, `{windows: [{start: "00:00", end: "23:59"}]}`},
		"another kind":                    {`{targetRef: {kind: Rollout, apiVersion: argoproj.io/v1alpha1}}`, `{targetRef: {kind: Rollout, apiVersion: argoproj.io/v1alpha1}}`},
		"fields of a later release":       {`{later: 1, targetRef: {later: 1}, holidays: {later: 1, sourceRef: {later: 1}}, windows: [{later: 1}]}`, `{targetRef: {}, holidays: {sourceRef: {}}, windows: [{}]}`},
		"windows of another shape":        {`{windows: [[1], x], defaultReplicas: 1.5}`, `{windows: [[1], x], defaultReplicas: 1.5}`},
		"nothing that v1alpha1 lacks":     {`{timezone: UTC, defaultReplicas: 3, windows: [], holidays: null, pause: false}`, `{timezone: UTC, defaultReplicas: 3, windows: [], holidays: null, pause: false}`},
		"a percentage above what may be":  {`{baselineReplicas: 3, defaultReplicas: "1001%"}`, `{defaultReplicas: "1001%"}`},
		"a baseline that cannot be taken": {`{baselineReplicas: 99999999999, defaultReplicas: "50%"}`, `{defaultReplicas: "50%"}`},
	} {
		hub := fromYAML(t, tc.hub)
		if diff := cmp.Diff(fromYAML(t, tc.spoke), view(hub)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		if diff := cmp.Diff(fromYAML(t, tc.hub), hub); diff != "" {
			t.Errorf("%s: the view changed what it shows\n%s", name, diff)
		}
	}
}

// Windows that are equal in v1alpha1 are distinguished by their order.
func TestAlign(t *testing.T) {
	for name, tc := range map[string]struct {
		base, theirs string
		want         []int
	}{
		"unchanged":                    {"a1 b1", "a1 b1", []int{0, 1}},
		"the second of two edited":     {"a1 a1", "a1 a2", []int{0, 1}},
		"the first of two edited":      {"a1 a1", "b1 a1", []int{0, 1}},
		"turned round":                 {"a1 b2 c3", "c3 b2 a1", []int{2, 1, 0}},
		"one deleted, another edited":  {"a1 b2 c3", "b4 c3", []int{1, 2}},
		"one deleted, one new":         {"a1 b2", "b2 c3", []int{1, -1}},
		"moved, and its place is new":  {"a1 b2 c3", "x9 b2 c3 a1", []int{-1, 1, 2, 0}},
		"all new":                      {"a1 b2", "x8 y9", []int{0, 1}},
		"nothing left":                 {"a1", "", []int{}},
		"nothing before":               {"", "a1", []int{-1}},
		"edited beside an insertion":   {"a1 b2", "a1 x9 b3", []int{0, -1, 1}},
		"two alike, and a third comes": {"a1 a1", "a1 a1 a1", []int{0, 1, -1}},
	} {
		got := matchItems(items(tc.base), items(tc.theirs))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	long := items(strings.Repeat("a1 ", 300))
	if got := matchItems(long, long[:299]); got[298] != 298 {
		t.Errorf("a list that is too long to compare: %v", got[298])
	}
}

// items reads "a1" as an item with two fields.
func items(text string) []any {
	list := []any{}
	for _, item := range strings.Fields(text) {
		list = append(list, map[string]any{"start": item[:1], "end": item[1:]})
	}
	return list
}

// A client cannot use the annotation to add what the controller cannot decode.
func TestForgedAnnotations(t *testing.T) {
	const spoke = `{"apiVersion":"kyklos.io/v1alpha1","metadata":{"annotations":{"kyklos.io/v1beta1-spec":%q}},"spec":{"windows":[{"replicas":1}]}}`
	for name, text := range map[string]string{
		"a count that is an object": `{"spec":{"windows":[{"replicas":{}}]}}`,
		"windows that are none":     `{"spec":{"windows":{}}}`,
		"a metric of text":          `{"spec":{"windows":[{"metric":"x"}]}}`,
		"a number out of range":     `{"spec":{"baselineReplicas":99999999999}}`,
		"an annotation of numbers":  `{"annotation":5}`,
		"annotations in bulk":       `{"annotation":"x","annotations":{"a":1}}`,
		"more than one":             `{"annotation":"x"} {"annotation":"y"}`,
		"something else":            `{"later":{}}`,
	} {
		o := decode([]byte(fmt.Sprintf(spoke, text))).(map[string]any)
		hub := there(t, o, ToV1beta1)
		o["apiVersion"] = "kyklos.io/v1beta1"
		if diff := cmp.Diff(o, hub); diff != "" {
			t.Errorf("%s (-before +after)\n%s", name, diff)
		}
	}
}

// What is not there stays away: the parts of objects that server-side apply converts have no spec, or
// no metadata, which the API server wants back all the same.
func TestPartsOfObjects(t *testing.T) {
	for _, text := range []string{`{}`, `{"metadata":null}`, `{"spec":{"defaultReplicas":1}}`} {
		for _, convert := range []func([]byte) ([]byte, error){ToV1alpha1, ToV1beta1} {
			converted := there(t, decode([]byte(text)).(map[string]any), convert)
			if diff := cmp.Diff(map[string]any{}, converted["metadata"]); diff != "" {
				t.Errorf("%s: metadata (-want +got)\n%s", text, diff)
			}
			if _, has := converted["spec"]; has != strings.Contains(text, "spec") {
				t.Errorf("%s became %v", text, converted)
			}
		}
	}
	for _, text := range []string{``, `null`, `[]`, `"x"`, `{`} {
		if converted, err := ToV1alpha1([]byte(text)); err == nil {
			t.Errorf("%s became %s", text, converted)
		}
		if converted, err := ToV1beta1([]byte(text)); err == nil {
			t.Errorf("%s became %s", text, converted)
		}
	}
	withoutSpec := there(t, fromYAML(t, `{metadata: {}, spec: {baselineReplicas: 1}}`), ToV1alpha1)
	delete(withoutSpec, "spec")
	if hub := there(t, withoutSpec, ToV1beta1); hub["spec"] != nil {
		t.Errorf("a spec that was taken away is back: %v", hub)
	}
}

// Where the annotation would make the API server refuse the whole answer, it is left out.
func TestNoRoom(t *testing.T) {
	hub := fromYAML(t, `{metadata: {annotations: {}}, spec: {baselineReplicas: 1}}`)
	annotations := hub["metadata"].(map[string]any)["annotations"].(map[string]any)
	spare := maxAnnotations - len("big") - len(`""`) - len(Annotation) - len(`{"spec":{"baselineReplicas":1}}`)
	for size, fits := range map[int]bool{spare: true, spare + 1: false} {
		annotations["big"] = strings.Repeat("x", size)
		spoke := there(t, hub, ToV1alpha1)
		_, has := spoke["metadata"].(map[string]any)["annotations"].(map[string]any)[Annotation]
		if has != fits || Carries(encode(hub)) != fits {
			t.Errorf("%d bytes beside it: fits %t, carries %t", size, has, Carries(encode(hub)))
		}
	}
}
