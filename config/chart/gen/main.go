// Command gen writes the templates of the Helm chart from the same folders of config that kustomize
// installs from, so that there is one source. What a user may choose by values is in choices.go.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

//go:generate go run . ../../..

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen PROJECT")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(project string) error {
	var in installations
	for folder, objects := range map[string]*[]*unstructured.Unstructured{
		"config/default":                          &in.certManager,
		"config/overlays/self-managed":            &in.selfManaged,
		"config/overlays/namespaced":              &in.namespaced,
		"config/overlays/namespaced/cluster":      &in.cluster,
		"config/overlays/without-workspaces":      &in.withoutWorkspaces,
		"config/overlays/workspace-namespaces":    &in.someHomes,
		"config/prometheus":                       &in.monitoring,
		"config/overlays/self-managed-prometheus": &in.selfManagedMonitoring,
	} {
		manifests, err := kustomize(project, folder)
		if err != nil {
			return err
		}
		if *objects, err = decode(manifests); err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
	}
	files, err := in.templates()
	if err != nil {
		return err
	}
	return write(filepath.Join(project, "config/chart/templates/generated"), files)
}

// kustomize returns the manifests that a folder of the project makes.
func kustomize(project, folder string) ([]byte, error) {
	cmd := exec.Command("go", "tool", "-modfile=go.tools.mod", "kustomize", "build", folder)
	cmd.Dir = project
	manifests, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return nil, fmt.Errorf("kustomize build %s: %w", folder, err)
	}
	return manifests, nil
}

func decode(manifests []byte) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	for objects := []*unstructured.Unstructured(nil); ; {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
}

// write makes folder hold the files and nothing else.
func write(folder string, files map[string]string) error {
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o755)); err != nil {
		return err
	}
	var errs []error
	for name, text := range files {
		errs = append(errs, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644))
	}
	return errors.Join(errs...)
}

// fileName is that of an object's template.
func fileName(object *unstructured.Unstructured) string {
	return strings.ToLower(object.GetKind()+"-"+object.GetName()) + ".yaml"
}
