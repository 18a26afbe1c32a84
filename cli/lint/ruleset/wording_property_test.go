package ruleset

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/manifest"
)

// full has a value of each type in metadata, and lists and objects within each other in spec.
const full = `{metadata: {name: office, labels: {a: b}, annotations: {a.b/c: d}, finalizers: [a/b], generation: 1,
  creationTimestamp: 2026-01-01T00:00:00Z, ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: b, controller: true}],
  managedFields: [{manager: a, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, time: 2026-01-01T00:00:00Z, fieldsV1: {a: {}}}]},
 spec: {targetRef: {kind: Deployment, name: web}, timezone: UTC, pause: false, gracePeriodSeconds: 60, holidays: {mode: treat-as-closed, sourceRef: {name: days}},
  windows: [{days: [Mon, Tue], start: "09:00", end: "17:00", metric: {name: a, minReplicas: 1, maxReplicas: 2, selector: {matchLabels: {a: b},
   matchExpressions: [{key: a, operator: In, values: [b]}]}, target: {type: Value, value: "5"}}}]}}`

// Whatever is written for whatever, lint refuses what the API server refuses, at its fields or around them, and in no words of Go.
func TestRewordedErrorsAreTheServers(t *testing.T) {
	t.Parallel()
	server, err := ownServer()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var content any
		if err := yaml.Unmarshal([]byte(full), &content); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			content = mistake(t, content)
		}
		object, ok := content.(map[string]any)
		if !ok {
			t.Skip("not an object")
		}
		object["apiVersion"], object["kind"] = "kyklos.io/v1beta1", "TimeWindowScaler"
		encode := rapid.SampledFrom([]func(any) ([]byte, error){json.Marshal, yaml.Marshal}).Draw(t, "encode")
		text, err := encode(object)
		if err != nil {
			t.Fatal(err)
		}
		objects, problems := manifest.Parse(&manifest.File{Name: "a.yaml", Data: text})
		if len(problems) > 0 || len(objects) != 1 {
			t.Fatal(problems)
		}
		r := &run{Options: Options{Server: server}}
		said := server.Create(objects[0], "shop").Errors
		reworded := r.reworded(objects[0], said)
		for _, e := range said {
			if !slices.ContainsFunc(reworded, func(other apiserver.Error) bool { return around(other.Field, e) }) {
				t.Errorf("%s\nnothing says %s: %s\n%v", text, e.Field, e.Message, reworded)
			}
		}
		if (len(said) == 0) != (len(reworded) == 0) || slices.ContainsFunc(reworded, func(e apiserver.Error) bool { return ofGo.MatchString(e.Message) }) {
			t.Errorf("%s\n%v\n%v", text, said, reworded)
		}
	})
}

var ofGo = regexp.MustCompile(`json: |Go struct|parsing time|\bv1\.`)

// around reports whether a field is that of an error or contains it. Go's decoder may not name the field.
func around(field string, e apiserver.Error) bool {
	below, ok := strings.CutPrefix(e.Field, field)
	return ok && (below == "" || below[0] == '.' || below[0] == '[') || ofGo.MatchString(e.Message) && strings.HasPrefix(field, "metadata")
}

// mistake has something else in place of one value, which is drawn.
func mistake(t *rapid.T, content any) any {
	var keys []string
	switch content := content.(type) {
	case map[string]any:
		keys = slices.Sorted(maps.Keys(content))
	case []any:
		for i := range content {
			keys = append(keys, fmt.Sprint(i))
		}
	}
	if len(keys) == 0 || rapid.IntRange(0, 4).Draw(t, "here") == 0 {
		return rapid.SampledFrom([]any{nil, 5, 1.5, true, "a", "5", "true", []any{}, map[string]any{}, []any{"a"}, []any{content}, map[string]any{"a": content}, []any{map[string]any{"kind": "a", "days": content}}}).Draw(t, "instead")
	}
	key := rapid.SampledFrom(keys).Draw(t, "key")
	switch content := content.(type) {
	case map[string]any:
		content[key] = mistake(t, content[key])
	case []any:
		i := slices.Index(keys, key)
		content[i] = mistake(t, content[i])
	}
	return content
}
