package apischema

import (
	"strings"
	"testing"
)

func scaler(spec map[string]any) map[string]any {
	whole := map[string]any{
		"targetRef": map[string]any{"kind": "Deployment", "name": "web"}, "timezone": "UTC", "defaultReplicas": int64(0),
		"windows": []any{map[string]any{"days": []any{"Mon"}, "start": "09:00", "end": "17:00", "replicas": int64(5)}},
	}
	for name, value := range spec {
		whole[name] = value
	}
	return map[string]any{"apiVersion": "kyklos.io/v1beta1", "kind": "TimeWindowScaler", "metadata": map[string]any{"name": "a"}, "spec": whole}
}

// An object is completed and validated as by the API server: unknown fields go, defaults come, and an update is only
// charged with what it changes.
func TestTimeWindowScalers(t *testing.T) {
	schema, err := Kyklos("timewindowscalers", "v1beta1")
	if err != nil {
		t.Fatal(err)
	}
	object := scaler(map[string]any{"later": true, "holidays": nil})
	schema.Complete(object)
	spec := object["spec"].(map[string]any)
	if _, unknown := spec["later"]; unknown || spec["pause"] != false || spec["targetRef"].(map[string]any)["apiVersion"] != "apps/v1" {
		t.Errorf("completed: %v", spec)
	}
	if errs := schema.Validate(t.Context(), nil, object); len(errs) > 0 {
		t.Error(errs)
	}
	for name, tc := range map[string]struct {
		spec map[string]any
		want string
	}{
		"the schema":       {map[string]any{"baselineReplicas": int64(0)}, "spec.baselineReplicas: Invalid value: 0"},
		"a rule":           {map[string]any{"workspace": map[string]any{}}, "spec.workspace: Forbidden"},
		"rules left out":   {map[string]any{"timezone": strings.Repeat("a", 99), "workspace": map[string]any{}}, RulesSkipped},
		"a set with twins": {map[string]any{"windows": []any{map[string]any{"days": []any{"Mon", "Mon"}, "start": "09:00", "end": "17:00", "replicas": int64(5)}}}, "Duplicate value"},
	} {
		invalid := scaler(tc.spec)
		schema.Complete(invalid)
		if errs := schema.Validate(t.Context(), nil, invalid); len(errs) == 0 || !strings.Contains(errs.ToAggregate().Error(), tc.want) {
			t.Errorf("%s: got %v", name, errs)
		}
		edited := scaler(tc.spec)
		edited["spec"].(map[string]any)["pause"] = true
		schema.Complete(edited)
		if errs := schema.ValidateUpdate(t.Context(), nil, edited, invalid); name == "the schema" && len(errs) > 0 {
			t.Errorf("%s, unchanged: got %v", name, errs)
		}
	}
	for _, missing := range [][2]string{{"timewindowscalers", "v9"}, {"nothing", "v1"}} {
		if _, err := Kyklos(missing[0], missing[1]); err == nil {
			t.Errorf("%v has a schema", missing)
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	schema, err := Kyklos("timewindowscalers", "v1beta1")
	if err != nil {
		b.Fatal(err)
	}
	object := scaler(nil)
	schema.Complete(object)
	schema.Validate(b.Context(), nil, object)
	for b.Loop() {
		schema.Validate(b.Context(), nil, object)
	}
}
