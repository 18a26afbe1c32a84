package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// definition is what a JSON schema is made from in a CustomResourceDefinition.
type definition struct {
	Spec struct {
		Group    string
		Names    struct{ Kind string }
		Versions []struct {
			Name   string
			Schema struct {
				OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
			}
		}
	}
}

// readSchemas returns a JSON schema for each version of each definition in the folder, by the names that kubeconform
// and editors expect: schemas/GROUP/KIND_VERSION.json.
func readSchemas(folder string) (files []file, err error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		return nil, err
	}
	for _, from := range paths {
		text, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		var crd definition
		if err := yaml.Unmarshal(text, &crd); err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
		for _, version := range crd.Spec.Versions {
			name := path.Join(schemasFolder, crd.Spec.Group, strings.ToLower(crd.Spec.Names.Kind)+"_"+version.Name+".json")
			schema := toJSONSchema(version.Schema.OpenAPIV3Schema)
			schema["$schema"] = "http://json-schema.org/draft-07/schema#"
			properties := schema["properties"].(map[string]any)
			properties["apiVersion"].(map[string]any)["enum"] = []string{crd.Spec.Group + "/" + version.Name}
			properties["kind"].(map[string]any)["enum"] = []string{crd.Spec.Names.Kind}
			required, _ := schema["required"].([]any) // none if the definition requires nothing
			schema["required"] = append([]any{"apiVersion", "kind", "metadata"}, required...)
			content, err := json.MarshalIndent(schema, "", "  ")
			if err != nil {
				return nil, err
			}
			files = append(files, file{name: name, content: append(content, '\n'), mode: 0o644})
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no definition in %s", folder)
	}
	return files, nil
}

// toJSONSchema turns a schema of Kubernetes into one of JSON Schema, by the conventions of kubeconform: a field that is
// not listed is refused, and a field that may be an integer or a string has both types. What JSON Schema cannot express,
// mainly CEL rules, is left out.
func toJSONSchema(schema map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range schema {
		switch {
		case strings.HasPrefix(key, "x-kubernetes-"), key == "nullable":
		case key == "properties":
			out[key] = eachSchema(value.(map[string]any))
		case slices.Contains([]string{"items", "additionalProperties", "not", "allOf", "anyOf", "oneOf"}, key):
			out[key] = schemaOrValue(value)
		default:
			out[key] = value
		}
	}
	open := schema["x-kubernetes-preserve-unknown-fields"] == true || schema["additionalProperties"] != nil
	if schema["properties"] != nil && !open {
		out["additionalProperties"] = false
	}
	if schema["x-kubernetes-int-or-string"] == true {
		out["type"] = []string{"integer", "string"}
		delete(out, "anyOf") // repeats the types
	}
	if kind, ok := out["type"].(string); ok && schema["nullable"] == true {
		out["type"] = []string{kind, "null"}
	}
	return out
}

func eachSchema(schemas map[string]any) map[string]any {
	out := map[string]any{}
	for name, schema := range schemas {
		out[name] = toJSONSchema(schema.(map[string]any))
	}
	return out
}

// schemaOrValue converts the value of a keyword that holds a schema, a list of them or a boolean.
func schemaOrValue(value any) any {
	switch value := value.(type) {
	case map[string]any:
		return toJSONSchema(value)
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = schemaOrValue(value[i])
		}
		return out
	}
	return value
}
