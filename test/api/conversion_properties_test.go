package api

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/webhooks/conversion"
)

// batch is how many objects one check of rapid converts: 10,000 in all, and ten times as many with -rapid.checks=1000.
const batch = 100

type step func([]byte) ([]byte, error)

// convertJSON runs conversion steps over JSON.
func convertJSON(t rapid.TB, object map[string]any, steps ...step) map[string]any {
	t.Helper()
	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	for _, next := range steps {
		if raw, err = next(raw); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
	}
	return decoded(t, raw)
}

// decoded keeps absent, null and empty values and all spellings of numbers apart. Integers are int64, as in an API
// server.
func decoded(t rapid.TB, raw []byte) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		t.Fatal(err)
	}
	return integers(object).(map[string]any)
}

func integers(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = integers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = integers(v[i])
		}
	case json.Number:
		if number, err := v.Int64(); err == nil {
			return number
		}
	}
	return value
}

// A2: nothing is lost, for every object that the schemas allow, even if its rules refuse it.
func TestConversionIsLossless(t *testing.T) {
	for version, there := range map[string][]step{
		"v1alpha1": {conversion.ToV1beta1, conversion.ToV1alpha1},
		"v1beta1":  {conversion.ToV1alpha1, conversion.ToV1beta1},
	} {
		schema := newValidator(t, "timewindowscalers.kyklos.io", version).structural
		t.Run(version, rapid.MakeCheck(func(t *rapid.T) {
			for range batch {
				object := scalerOf(t, schema, version)
				if version == "v1beta1" && rapid.IntRange(0, 4).Draw(t, "copied annotation") == 0 {
					copied := convertJSON(t, object, conversion.ToV1alpha1)
					object["metadata"] = copied["metadata"] // v1alpha1 YAML used as v1beta1
				}
				back := convertJSON(t, object, there...)
				if diff := cmp.Diff(integers(object), back); diff != "" {
					t.Fatalf("(-before +after)\n%s", diff)
				}
			}
		}))
	}
}

// The v1alpha1 view of a valid object is valid, except for targets that only v1beta1 supports, so that its client can
// edit it.
func TestViewsAreValid(t *testing.T) {
	hub, spoke := newValidator(t, "timewindowscalers.kyklos.io", "v1beta1"), v1alpha1Validator(t)
	valid := 0
	rapid.Check(t, func(r *rapid.T) {
		for range 10 {
			object := scalerOf(r, hub.structural, "v1beta1")
			delete(object, "status")
			likely(object["spec"].(map[string]any))
			if len(hub.create(t, object)) > 0 {
				continue
			}
			valid++
			shown := convertJSON(r, object, conversion.ToV1alpha1)
			for _, err := range spoke.create(t, shown) {
				if !isAboutKind(err) {
					r.Fatalf("%v of %v", err, shown["spec"])
				}
			}
		}
	})
	t.Logf("%d objects were valid", valid)
	if valid < 100 {
		t.Errorf("only %d valid objects were drawn", valid)
	}
}

func isAboutKind(err *field.Error) bool {
	return err.Field == "spec.targetRef.kind" || err.Field == "spec.targetRef.apiVersion"
}
