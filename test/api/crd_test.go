package api

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
)

// oldestLibraries are the CEL libraries with which the oldest supported Kubernetes, 1.34, compiles a new rule: those of
// the release before, so that a rollback can compile it too.
var oldestLibraries = version.MajorMinor(1, 33)

// loadCRDs reads config/crd/bases as an API server does: strictly, defaulted, converted to the internal version.
func loadCRDs(t *testing.T) []*apiextensions.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(harness.RootFor(t), "config", "crd", "bases", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("found no CRDs: %v", err)
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	var crds []*apiextensions.CustomResourceDefinition
	for _, file := range files {
		text, err := os.ReadFile(file)
		harness.Must(t, err)
		var external apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &external); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		scheme.Default(&external)
		var crd apiextensions.CustomResourceDefinition
		if err := scheme.Convert(&external, &crd, nil); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, v := range crd.Spec.Versions { // the API server fills this in before it validates
			if v.Storage {
				crd.Status.StoredVersions = []string{v.Name}
			}
		}
		crds = append(crds, &crd)
	}
	return crds
}

// schemas returns the schema of each version, even if the internal form has moved a shared one to the top.
func schemas(crd *apiextensions.CustomResourceDefinition) map[string]*apiextensions.JSONSchemaProps {
	found := map[string]*apiextensions.JSONSchemaProps{}
	for _, v := range crd.Spec.Versions {
		if s, err := apiextensions.GetSchemaForVersion(crd, v.Name); err == nil && s != nil {
			found[v.Name] = s.OpenAPIV3Schema
		}
	}
	return found
}

func TestCRDsInstall(t *testing.T) {
	for _, crd := range loadCRDs(t) {
		if errs := validation.ValidateCustomResourceDefinition(t.Context(), crd); len(errs) > 0 {
			t.Errorf("%s: %v", crd.Name, errs.ToAggregate())
		}
		if got, want := len(schemas(crd)), len(crd.Spec.Versions); got != want {
			t.Errorf("%s: %d of %d versions have a schema", crd.Name, got, want)
		}
	}
}

// Every rule compiles on the oldest supported Kubernetes. Its worst case costs less than half of the limits for a rule
// and a CRD, so that a higher estimate in a later release does not matter.
func TestRuleCosts(t *testing.T) {
	env := environment.MustBaseEnvSet(oldestLibraries)
	for _, crd := range loadCRDs(t) {
		var total uint64
		rules := 0
		for name, schema := range schemas(crd) {
			walk(validation.RootCELContext(schema), schema, field.NewPath(name), func(node *validation.CELSchemaContext, path *field.Path) {
				info, err := node.TypeInfo()
				if err != nil || info == nil {
					t.Fatalf("%s: %v", path, err)
				}
				results, err := cel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit, env, cel.NewExpressionsEnvLoader())
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				for i, r := range results {
					if r.Error != nil {
						t.Errorf("%s: rule %d: %v", path, i, r.Error)
					}
					times := r.MaxCardinality
					if node.MaxCardinality != nil {
						times = *node.MaxCardinality
					}
					cost := r.MaxCost * times
					t.Logf("%s: rule %d: %d x %d = %d, %.2f %% of the limit", path, i, r.MaxCost, times, cost,
						100*float64(cost)/validation.StaticEstimatedCostLimit)
					if cost > validation.StaticEstimatedCostLimit/2 {
						t.Errorf("%s: rule %d costs %d, more than half of the limit %d", path, i, cost, validation.StaticEstimatedCostLimit)
					}
					total += cost
					rules++
				}
			})
		}
		t.Logf("%s: %d rules cost %d, %.2f %% of the limit", crd.Name, rules, total, 100*float64(total)/validation.StaticEstimatedCRDCostLimit)
		if rules == 0 || total > validation.StaticEstimatedCRDCostLimit/2 {
			t.Errorf("%s: %d rules cost %d; more than half of the limit is %d", crd.Name, rules, total, validation.StaticEstimatedCRDCostLimit/2)
		}
	}
}

// walk calls visit for every node of the schema that has CEL rules.
func walk(node *validation.CELSchemaContext, schema *apiextensions.JSONSchemaProps, path *field.Path, visit func(*validation.CELSchemaContext, *field.Path)) {
	if len(schema.XValidations) > 0 {
		visit(node, path)
	}
	for name, property := range schema.Properties {
		walk(node.ChildPropertyContext(&property, name), &property, path.Child(name), visit)
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		walk(node.ChildItemsContext(schema.Items.Schema), schema.Items.Schema, path.Key("*"), visit)
	}
}

// kubectl explain shows whole sentences: controller-gen treats a comment line that begins with a plus sign as a marker
// and drops it.
func TestDescriptionsAreWhole(t *testing.T) {
	for _, crd := range loadCRDs(t) {
		for name, schema := range schemas(crd) {
			for _, part := range []string{"spec", "status"} {
				below := schema.Properties[part]
				if described(t, &below, field.NewPath(name, part)) == 0 {
					t.Errorf("%s: no field of %s has a description", name, part)
				}
			}
		}
	}
}

// described counts the descriptions below schema, and reports those without a period.
func described(t *testing.T, schema *apiextensions.JSONSchemaProps, path *field.Path) (count int) {
	if schema.Description != "" {
		count++
		if !strings.HasSuffix(schema.Description, ".") {
			t.Errorf("%s: a line is missing at the end of %q", path, schema.Description)
		}
	}
	for name, property := range schema.Properties {
		count += described(t, &property, path.Child(name))
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		count += described(t, schema.Items.Schema, path.Key("*"))
	}
	return count
}

// Every integer has a minimum and a maximum that fit its Go type: API servers before Kubernetes 1.36 do not enforce its
// format, and Go decodes nothing of an object with a number too many.
func TestIntegersHaveBounds(t *testing.T) {
	for _, crd := range loadCRDs(t) {
		for name, schema := range schemas(crd) {
			if checked := bounded(t, schema, field.NewPath(name)); checked < 5 {
				t.Errorf("%s %s: found only %d integers", crd.Name, name, checked)
			}
		}
	}
}

// bounded counts the integers below schema, and reports those without bounds.
func bounded(t *testing.T, schema *apiextensions.JSONSchemaProps, path *field.Path) (count int) {
	limit := float64(math.MaxInt32)
	if schema.Format == "int64" {
		limit = 1<<53 - 1 // beyond it a bound is not exact: it is kept as a float64
	}
	// Kubernetes' own type of a condition has no maximum.
	if schema.Type == "integer" && !strings.HasSuffix(path.String(), "status.conditions[*].observedGeneration") {
		count++
		if schema.Minimum == nil || schema.Maximum == nil || *schema.Minimum < -limit || *schema.Maximum > limit {
			t.Errorf("%s: give it a minimum and a maximum, at most %.0f", path, limit)
		}
	}
	for name, property := range schema.Properties {
		count += bounded(t, &property, path.Child(name))
	}
	if schema.Items != nil && schema.Items.Schema != nil {
		count += bounded(t, schema.Items.Schema, path.Key("*"))
	}
	if schema.AdditionalProperties != nil && schema.AdditionalProperties.Schema != nil {
		count += bounded(t, schema.AdditionalProperties.Schema, path.Key("*"))
	}
	return count
}

// Of two versions the older one is deprecated, and says what to use. An only version is not.
func TestDeprecatedVersions(t *testing.T) {
	for _, crd := range loadCRDs(t) {
		for i, v := range crd.Spec.Versions {
			deprecated := i < len(crd.Spec.Versions)-1
			if v.Deprecated != deprecated || deprecated && !strings.Contains(ptr.Deref(v.DeprecationWarning, ""), "use kyklos.io/v1beta1") {
				t.Errorf("%s %s: deprecated %t, warning %q", crd.Name, v.Name, v.Deprecated, ptr.Deref(v.DeprecationWarning, ""))
			}
		}
	}
}

// All versions have the same status: while the older one is stored, what it lacks would be pruned from each status that is written.
func TestAllVersionsHaveOneStatus(t *testing.T) {
	names := func(v apiextensions.CustomResourceDefinitionVersion) []string {
		return slices.Sorted(maps.Keys(v.Schema.OpenAPIV3Schema.Properties["status"].Properties))
	}
	for _, crd := range loadCRDs(t) {
		for _, v := range crd.Spec.Versions[1:] {
			if got, want := names(v), names(crd.Spec.Versions[0]); !slices.Equal(got, want) {
				t.Errorf("%s: the status of %s has %q, that of %s has %q", crd.Name, v.Name, got, crd.Spec.Versions[0].Name, want)
			}
		}
	}
}
