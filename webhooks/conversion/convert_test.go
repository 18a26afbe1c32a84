package conversion

import (
	"fmt"
	"slices"
	"strconv"
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
		"a percentage of nothing known":   {`{defaultReplicas: "50%"}`, `{defaultReplicas: 1}`},
		"a text that is no percentage":    {`{baselineReplicas: 3, defaultReplicas: "many"}`, `{defaultReplicas: 1}`},
		"a window's name, zone, metric":   {`{windows: [{name: a, timezone: UTC, metric: {name: q, maxReplicas: 3}, replicas: 2}]}`, `{windows: [{replicas: 2}]}`},
		"the end of the day":              {`{windows: [{start: "09:00", end: "24:00", replicas: "200%"}], baselineReplicas: 4}`, `{windows: [{start: "09:00", end: "00:00", replicas: 8}]}`},
		"a whole day":                     {`{windows: [{start: "00:00", end: "24:00"}]}`, `{windows: [{start: "00:00", end: "23:59"}]}`},
		"another kind":                    {`{targetRef: {kind: Rollout, apiVersion: argoproj.io/v1alpha1}}`, `{targetRef: {kind: Rollout, apiVersion: argoproj.io/v1alpha1}}`},
		"fields of a later release":       {`{later: 1, targetRef: {later: 1}, holidays: {later: 1, sourceRef: {later: 1}}, windows: [{later: 1}]}`, `{targetRef: {}, holidays: {sourceRef: {}}, windows: [{}]}`},
		"windows of another shape":        {`{windows: [[1], x], defaultReplicas: 1.5}`, `{windows: [[1], x], defaultReplicas: 1.5}`},
		"nothing that v1alpha1 lacks":     {`{timezone: UTC, defaultReplicas: 3, windows: [], holidays: null, pause: false}`, `{timezone: UTC, defaultReplicas: 3, windows: [], holidays: null, pause: false}`},
		"a percentage above what may be":  {`{baselineReplicas: 3, defaultReplicas: "1001%"}`, `{defaultReplicas: 1}`},
		"a baseline that cannot be taken": {`{baselineReplicas: 99999999999, defaultReplicas: "50%"}`, `{defaultReplicas: 1}`},
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

// Items stay, are edited, moved, or both. In doubt are those that hide something and may have become one of several.
func TestMatch(t *testing.T) {
	for name, tc := range map[string]struct {
		base, edited string
		want         []int
		doubtful     []int
	}{
		"unchanged":                      {"abcd efgh", "abcd efgh", []int{0, 1}, nil},
		"the second of two alike edited": {"abcd abcd", "abcd abcx", []int{0, 1}, nil},
		"the first of two alike edited":  {"abcd abcd", "abcx abcd", []int{0, 1}, nil},
		"half of it edited in place":     {"abcd efgh", "abcd efxy", []int{0, 1}, nil},
		"replaced in place":              {"abcd efgh", "abcd exyz", []int{0, -1}, []int{1}},
		"turned round":                   {"abcd efgh ijkl", "ijkl efgh abcd", []int{2, 1, 0}, nil},
		"one deleted, another edited":    {"abcd efgh ijkl", "efgx ijkl", []int{1, 2}, nil},
		"moved and edited":               {"abcd efgh ijkl", "efgh ijkl abcx", []int{1, 2, 0}, nil},
		"moved, and half of it edited":   {"abcd efgh ijkl", "efgh ijkl abxy", []int{1, 2, 0}, nil},
		"two moved and edited":           {"abcd efgh ijkl", "ijkx efgh abcx", []int{2, 1, 0}, nil},
		"moved, and its place is new":    {"abcd efgh ijkl", "wxyz efgh ijkl abcd", []int{-1, 1, 2, 0}, nil},
		"one deleted, one new":           {"abcd efgh", "efgh wxyz", []int{1, -1}, []int{0}},
		"all new":                        {"abcd efgh", "wxyz stuv", []int{-1, -1}, []int{0, 1}},
		"became one of two":              {"abcd efgh", "abcx abcy efgh", []int{-1, -1, 1}, []int{0}},
		"one of two became it":           {"abcd abce efgh", "abcx efgh", []int{-1, 2}, []int{0, 1}},
		"half of it in one of two":       {"abcd efgh", "abxy wxyz efgh", []int{-1, -1, 1}, []int{0}},
		"two moved or edited":            {"abcd abce ijkl", "abxe abyd ijkl", []int{0, 1, 2}, []int{0, 1}},
		"three moved or edited":          {"abcd ebcd fbcd", "ebcx fbcy abcz", []int{0, 1, 2}, []int{0, 1, 2}},
		"edited alike in place":          {"abcd abce", "abxd abye", []int{0, 1}, nil},
		"one replaced, another edited":   {"abcd ebcd fghi", "xbcd ybcd stuv", []int{-1, -1, -1}, []int{0, 1, 2}},
		"nothing left":                   {"abcd", "", []int{}, nil},
		"nothing before":                 {"", "abcd", []int{-1}, nil},
		"edited beside an insertion":     {"abcd efgh", "abcd wxyz efgx", []int{0, -1, 1}, nil},
		"two alike, and a third comes":   {"abcd abcd", "abcd abcd abcd", []int{0, 1, -1}, nil},
		"one of three alike deleted":     {"abcd abcd abcd efgh", "abcd abcd efgh", []int{0, 1, 3}, []int{0, 1, 2}},
		"all of three alike deleted":     {"abcd abcd abcd efgh", "efgh", []int{3}, nil},
		"one deleted before another":     {"abcd abcd efgh", "abcd efgh wxyz", []int{0, 2, -1}, []int{0, 1}},
		"a copy instead of another item": {"abcd efgh", "efgh efgh", []int{-1, 1}, []int{0}},
	} {
		original := items(tc.base)
		for i := range original {
			original[i].(map[string]any)["name"] = number(i)
		}
		got := matchItems(items(tc.base), items(tc.edited), original)
		var doubtful []int
		for i := range got.doubtful {
			if got.doubtful[i] {
				doubtful = append(doubtful, i)
			}
		}
		if diff := cmp.Diff(tc.want, got.origin) + cmp.Diff(tc.doubtful, doubtful); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
		shown := matchItems(items(tc.base), items(tc.edited), items(tc.base))
		if slices.Contains(shown.doubtful, true) {
			t.Errorf("%s: doubts although nothing is hidden: %v", name, shown.doubtful)
		}
	}
	long := items(strings.Repeat("abcd ", 300))
	if got := matchItems(long, long[:299], long).origin; got[298] != 298 {
		t.Errorf("a list that is too long to compare: %v", got[298])
	}
}

// items reads each word as an item whose fields are its letters.
func items(text string) []any {
	list := []any{}
	for _, word := range strings.Fields(text) {
		item := map[string]any{}
		for i, letter := range word {
			item[strconv.Itoa(i)] = string(letter)
		}
		list = append(list, item)
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
