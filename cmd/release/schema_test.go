package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// schemas are those of the release's archive, compiled, by apiVersion and kind.
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	files, err := readSchemas(filepath.Join(root, "config/crd/bases"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]*jsonschema.Schema{}
	archive := []byte(read(t, filepath.Join(released, "kyklos-schemas-"+version+".tar.gz")))
	for _, f := range files {
		text, err := fileInArchive(archive, f.name)
		if err != nil || string(text) != string(f.content) {
			t.Fatalf("%s in the archive: %v", f.name, err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource(f.name, mustJSON(t, text)); err != nil {
			t.Fatal(err)
		}
		if found[f.name], err = compiler.Compile(f.name); err != nil {
			t.Fatal(err)
		}
	}
	return found
}

// lookUp finds a schema as kubeconform does with {{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json.
func lookUp(schemas map[string]*jsonschema.Schema, object map[string]any) *jsonschema.Schema {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	group, version, _ := strings.Cut(apiVersion, "/")
	return schemas[schemasFolder+"/"+group+"/"+strings.ToLower(kind)+"_"+version+".json"]
}

// validateSample validates each object of Kyklos in a file.
func validateSample(t *testing.T, schemas map[string]*jsonschema.Schema, path string) (objects int, invalid error) {
	t.Helper()
	for _, document := range regexp.MustCompile(`(?m)^---$`).Split(read(t, path), -1) {
		text, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			t.Fatal(err)
		}
		object, _ := mustJSON(t, text).(map[string]any)
		if schema := lookUp(schemas, object); schema != nil {
			objects++
			if err := schema.Validate(object); err != nil {
				invalid = err
			}
		}
	}
	return objects, invalid
}

func TestSchemasAcceptSamples(t *testing.T) {
	schemas := schemas(t)
	if len(schemas) != 3 {
		t.Errorf("%d schemas", len(schemas))
	}
	objects := 0
	for _, pattern := range []string{"*.yaml", "v1alpha1/*.yaml", "warnings/*.yaml", "workspaces/*.yaml", "workspaces/warnings/*.yaml"} {
		paths, err := filepath.Glob(filepath.Join(root, "config/samples", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			n, err := validateSample(t, schemas, path)
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			objects += n
		}
	}
	if objects < 30 {
		t.Errorf("only %d objects were validated", objects)
	}
}

// Mistakes of structure are refused. CEL rules and the webhooks' rules are not part of a schema.
func TestSchemasRefuseMistakes(t *testing.T) {
	schemas := schemas(t)
	for _, name := range []string{
		"unknown-field", "timezone-missing", "windows-none", "days-unknown", "window-replicas-fraction", "window-start-number",
		"pause-text", "target-kind-missing", "metric-target-type-unknown", "spec-missing", "window-name-too-long",
	} {
		objects, err := validateSample(t, schemas, filepath.Join(root, "config/samples/invalid", name+".yaml"))
		if objects == 0 || err == nil {
			t.Errorf("%s: %d objects are accepted", name, objects)
		}
	}
}

func TestToJSONSchema(t *testing.T) {
	for name, test := range map[string]struct{ schema, want string }{
		"closed":     {`{type: object, properties: {a: {type: string}}}`, `{type: object, properties: {a: {type: string}}, additionalProperties: false}`},
		"no fields":  {`{type: object}`, `{type: object}`},
		"open":       {`{type: object, properties: {}, x-kubernetes-preserve-unknown-fields: true}`, `{type: object, properties: {}}`},
		"map":        {`{type: object, additionalProperties: {type: object, properties: {}}}`, `{type: object, additionalProperties: {type: object, properties: {}, additionalProperties: false}}`},
		"either":     {`{anyOf: [{type: integer}, {type: string}], pattern: x, x-kubernetes-int-or-string: true}`, `{type: [integer, string], pattern: x}`},
		"nullable":   {`{type: string, nullable: true}`, `{type: [string, "null"]}`},
		"rules":      {`{type: string, x-kubernetes-validations: [{rule: "self != ''"}]}`, `{type: string}`},
		"field name": {`{type: object, properties: {properties: {type: string}, default: {type: string}}}`, `{type: object, properties: {properties: {type: string}, default: {type: string}}, additionalProperties: false}`},
		"list":       {`{type: array, items: {type: object, properties: {}}}`, `{type: array, items: {type: object, properties: {}, additionalProperties: false}}`},
		"a default":  {`{default: {properties: 1}}`, `{default: {properties: 1}}`},
	} {
		var schema, want map[string]any
		if err := yaml.Unmarshal([]byte(test.schema), &schema); err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal([]byte(test.want), &want); err != nil {
			t.Fatal(err)
		}
		got, err := yaml.Marshal(toJSONSchema(schema))
		if err != nil {
			t.Fatal(err)
		}
		if expected, err := yaml.Marshal(want); err != nil || string(got) != string(expected) {
			t.Errorf("%s: got\n%swant\n%s", name, got, expected)
		}
	}
}
