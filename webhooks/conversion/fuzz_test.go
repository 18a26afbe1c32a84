package conversion

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// batch is how many objects one check of rapid converts: 10,000 in all; -rapid.checks=1000 means ten
// times as many.
const batch = 100

// names are those of v1alpha1, of v1beta1, and some that neither has.
var (
	spokeNames = []string{"targetRef", "timezone", "defaultReplicas", "windows", "holidays", "gracePeriodSeconds", "pause",
		"apiVersion", "kind", "name", "namespace", "mode", "sourceRef", "days", "start", "end", "replicas"}
	hubNames = append(slices.Clone(spokeNames), "baselineReplicas", "metric", "selector", "target", "later", "annotations", "")
)

// mess draws any JSON, out of names and values that mean something somewhere.
func mess(t *rapid.T, names []string, texts []string, depth int) any {
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return json.Number(rapid.SampledFrom([]string{"0", "5", "-1", "5.0", "1e2", "99999999999", "9007199254740993"}).Draw(t, "number"))
	case 3, 4:
		return rapid.SampledFrom(texts).Draw(t, "text")
	case 5, 6:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			list = append(list, mess(t, names, texts, depth-1))
		}
		return list
	}
	object := map[string]any{}
	if depth > 0 {
		for range rapid.IntRange(0, 4).Draw(t, "names") {
			object[rapid.SampledFrom(names).Draw(t, "name")] = mess(t, names, texts, depth-1)
		}
	}
	return object
}

// hubSpec draws a spec that has the right shape here and there.
func hubSpec(t *rapid.T, names, texts []string) any {
	if rapid.IntRange(0, 3).Draw(t, "any spec") == 0 {
		return mess(t, names, texts, 4)
	}
	spec := map[string]any{}
	for _, name := range names {
		switch rapid.IntRange(0, 7).Draw(t, name) {
		case 0:
			spec[name] = mess(t, names, texts, 2)
		case 1:
			windows := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "windows") {
				windows = append(windows, map[string]any{"replicas": mess(t, names, texts, 0), "start": rapid.SampledFrom(texts).Draw(t, "start"), "end": rapid.SampledFrom(texts).Draw(t, "end")})
			}
			spec["windows"] = windows
		}
	}
	return spec
}

// scaler draws an object without any of its parts, or with a malformed one. Metadata alone is as the
// API server demands it: it is there.
func scaler(t *rapid.T, names, texts []string, annotation func(*rapid.T) string) map[string]any {
	o := map[string]any{"apiVersion": "", "kind": "TimeWindowScaler"}
	metadata := map[string]any{"name": "x"}
	switch rapid.IntRange(0, 5).Draw(t, "annotations") {
	case 0:
		metadata["annotations"] = nil
	case 1:
		metadata["annotations"] = map[string]any{}
	case 2:
		metadata["annotations"] = map[string]any{"a": "b"}
	case 3:
		metadata["annotations"] = map[string]any{"a": "b", Annotation: annotation(t)}
	case 4:
		metadata["annotations"] = mess(t, append([]string{Annotation}, names...), texts, 1)
	}
	o["metadata"] = metadata
	if rapid.IntRange(0, 9).Draw(t, "metadata") == 0 {
		o["metadata"] = []any{}
	}
	if rapid.IntRange(0, 9).Draw(t, "spec") > 0 {
		o["spec"] = hubSpec(t, names, texts)
	}
	if rapid.Bool().Draw(t, "status") {
		o["status"] = mess(t, names, texts, 2)
	}
	return o
}

// payloads are values of the annotation: made here, forged, or something else.
func payloads(t *rapid.T) string {
	return rapid.SampledFrom([]string{
		"", "hello", "null", "{}", `{"spec":null}`, `{"spec":{}}`, `{"spec":{"windows":7}}`, `{"spec":{"windows":[{"replicas":{}}]}}`, `{"annotation":5}`,
		`{"spec":{"baselineReplicas":10,"defaultReplicas":"50%"}}`, `{"annotation":"x"}`, `{"annotation":"{\"annotation\":\"x\"}"}`, `{"spec":{"name":"x"}} {}`,
		`{"spec":{"defaultReplicas":1,"windows":[{"name":"a","replicas":1}]},"annotations":[1]}`, `{"later":1}`,
	}).Draw(t, "payload")
}

func there(t rapid.TB, o map[string]any, steps ...func([]byte) ([]byte, error)) map[string]any {
	t.Helper()
	raw := []byte(encode(o))
	for _, convert := range steps {
		converted, err := convert(raw)
		if err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		raw = converted
	}
	return decode(raw).(map[string]any)
}

// Any object of v1beta1 comes back from v1alpha1 as it was.
func TestHubRoundTrip(t *testing.T) {
	texts := []string{"", "00:00", "24:00", "50%", "1001%", "abc", "<&>", "é\u2028"}
	carried := 0
	rapid.Check(t, func(t *rapid.T) {
		for range batch {
			o := scaler(t, hubNames, texts, payloads)
			o["apiVersion"] = "kyklos.io/v1beta1"
			if rapid.Bool().Draw(t, "copied") {
				carried++
				o["metadata"] = there(t, o, ToV1alpha1)["metadata"]
			}
			back := there(t, o, ToV1alpha1, ToV1beta1)
			if !Same(o, back) {
				t.Fatalf("(-before +after)\n%s\nby way of %v", cmp.Diff(o, back), there(t, o, ToV1alpha1))
			}
		}
	})
	if carried == 0 {
		t.Error("no object had an annotation of its own")
	}
}

// Any object of v1alpha1 that v1alpha1 can express comes back from v1beta1 as it was.
func TestSpokeRoundTrip(t *testing.T) {
	texts := []string{"", "00:00", "17:00", "<&>", "é\u2028", "5", "50%", "1001%"}
	rapid.Check(t, func(t *rapid.T) {
		for range batch {
			o := scaler(t, spokeNames, texts, func(t *rapid.T) string {
				return rapid.SampledFrom([]string{"", "hello", "{}", "null"}).Draw(t, "annotation")
			})
			o["apiVersion"] = "kyklos.io/v1alpha1"
			spec, _ := o["spec"].(map[string]any)
			if spec != nil && decodable(encode(spec)) && !Same(view(spec), spec) {
				continue // a field in the wrong place: the API server has pruned it
			}
			back := there(t, o, ToV1beta1, ToV1alpha1)
			if !Same(o, back) {
				t.Fatalf("(-before +after)\n%s", cmp.Diff(o, back))
			}
		}
	})
}

// A value that v1alpha1 cannot express, or an annotation written by a user, is not an error, and after the
// first conversion to v1beta1 nothing more is lost.
func TestAnySpokeSettles(t *testing.T) {
	texts := []string{"", "00:00", "24:00", "50%", "abc"}
	rapid.Check(t, func(t *rapid.T) {
		for range batch / 4 {
			o := scaler(t, hubNames, texts, payloads)
			hub := there(t, o, ToV1beta1)
			if back := there(t, hub, ToV1alpha1, ToV1beta1); !Same(hub, back) {
				t.Fatalf("(-first +again)\n%s", cmp.Diff(hub, back))
			}
		}
	})
}

// Status, and metadata except the annotation, are copied without being read.
func TestTheRestPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := scaler(t, hubNames, []string{"50%", "24:00"}, payloads)
		o["status"] = mess(t, hubNames, []string{"50%"}, 3)
		for version, convert := range map[string]func([]byte) ([]byte, error){"v1alpha1": ToV1alpha1, "v1beta1": ToV1beta1} {
			converted := there(t, o, convert)
			if converted["apiVersion"] != "kyklos.io/"+version || !Same(o["status"], converted["status"]) {
				t.Fatalf("%v became %v", o, converted)
			}
			before, after := maps.Clone(o), maps.Clone(converted)
			for _, part := range []string{"apiVersion", "metadata", "spec"} {
				delete(before, part)
				delete(after, part)
			}
			if !Same(before, after) {
				t.Fatal(cmp.Diff(before, after))
			}
		}
	})
}
