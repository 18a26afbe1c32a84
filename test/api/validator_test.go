package api

import (
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
)

// validator validates objects of one version of one CRD as an API server does: defaults, schema, list types, CEL. On
// update, unchanged values are ratcheted.
type validator struct {
	structural *structuralschema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

func newValidator(t *testing.T, crdName, version string) validator {
	t.Helper()
	for _, crd := range loadCRDs(t) {
		schema, ok := schemas(crd)[version]
		if crd.Name != crdName || !ok {
			continue
		}
		structural, err := structuralschema.NewStructural(schema)
		harness.Must(t, err)
		schemaValidator, _, err := validation.NewSchemaValidator(schema)
		harness.Must(t, err)
		return validator{structural, schemaValidator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}
	}
	t.Fatalf("no CRD %s with version %s", crdName, version)
	return validator{}
}

// create returns why a new object is refused.
func (v validator) create(t *testing.T, obj map[string]any) field.ErrorList {
	t.Helper()
	defaulting.Default(obj, v.structural)
	errs := validation.ValidateCustomResource(nil, obj, v.schema)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, obj)...)
	if blocksRules(errs) {
		return errs
	}
	broken, left := v.rules.Validate(t.Context(), nil, v.structural, obj, nil, celconfig.RuntimeCELCostBudget)
	t.Logf("rules cost %d of %d", celconfig.RuntimeCELCostBudget-left, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

// update returns why obj may not replace old.
func (v validator) update(t *testing.T, obj, old map[string]any) field.ErrorList {
	t.Helper()
	defaulting.Default(obj, v.structural)
	defaulting.Default(old, v.structural)
	related := common.NewCorrelatedObject(obj, old, &model.Structural{Structural: v.structural})
	errs := validation.ValidateCustomResourceUpdate(nil, obj, old, v.schema, validation.WithRatcheting(related))
	if blocksRules(errs) {
		return errs
	}
	broken, _ := v.rules.Validate(t.Context(), nil, v.structural, obj, old, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(related))
	return append(errs, broken...)
}

// blocksRules reports whether an API server skips the CEL rules because of these errors.
func blocksRules(errs field.ErrorList) bool {
	for _, err := range errs {
		switch err.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}

// object reads YAML after replacing each pair of strings, which must occur exactly once.
func object(t *testing.T, text string, replacements ...string) map[string]any {
	t.Helper()
	for i := 0; i < len(replacements); i += 2 {
		if strings.Count(text, replacements[i]) != 1 {
			t.Fatalf("%q is not in the object exactly once", replacements[i])
		}
		text = strings.Replace(text, replacements[i], replacements[i+1], 1)
	}
	content, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	var obj map[string]any
	if err := json.Unmarshal(content, &obj); err != nil { // whole numbers are integers, as an API server reads them
		t.Fatalf("%v in:\n%s", err, text)
	}
	return obj
}

// mustRefuse checks that there is exactly one error for each want, in order, that contains it.
func mustRefuse(t *testing.T, errs field.ErrorList, wants ...string) {
	t.Helper()
	if len(errs) != len(wants) {
		t.Fatalf("got %d errors, want %d: %v", len(errs), len(wants), errs)
	}
	for i, want := range wants {
		if !strings.Contains(errs[i].Error(), want) {
			t.Errorf("got  %s\nwant %s", errs[i], want)
		}
	}
}
