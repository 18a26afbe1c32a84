package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"kyklos.io/kyklos/test/harness"
)

// helm runs bin/helm.
func helm(t *testing.T, kubeconfig string, args ...string) (stdout string, err error) {
	t.Helper()
	binary, err := harness.Binary("helm")
	harness.Must(t, err)
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = helmEnvironment(t, kubeconfig)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err = cmd.Run(); err != nil {
		err = fmt.Errorf("helm %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return out.String(), err
}

// helmEnvironment keeps Helm's settings and caches apart from the user's.
func helmEnvironment(t *testing.T, kubeconfig string) []string {
	home := t.TempDir()
	return append(os.Environ(), "KUBECONFIG="+kubeconfig, "HELM_CACHE_HOME="+home, "HELM_CONFIG_HOME="+home, "HELM_DATA_HOME="+home)
}

// template returns the chart's objects for a release in a namespace.
func template(t *testing.T, release, namespace string, args ...string) map[string]*unstructured.Unstructured {
	t.Helper()
	chart := filepath.Join(harness.RootFor(t), "config", "chart")
	manifests, err := helm(t, os.DevNull, append([]string{"template", release, chart, "--namespace", namespace}, args...)...)
	harness.Must(t, err)
	return objects(t, manifests)
}

// kustomize returns the manifests of an installation below config.
func kustomize(t *testing.T, folder string) string {
	t.Helper()
	binary, err := harness.Binary("kubectl")
	harness.Must(t, err)
	manifests, err := exec.CommandContext(context.WithoutCancel(t.Context()), binary, "kustomize", filepath.Join(harness.RootFor(t), "config", folder)).Output()
	harness.Must(t, err)
	return string(manifests)
}

// objects returns those of a stream by kind, namespace and name.
func objects(t *testing.T, manifests string) map[string]*unstructured.Unstructured {
	t.Helper()
	found := map[string]*unstructured.Unstructured{}
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return found
		}
		harness.Must(t, err)
		if len(object.Object) > 0 {
			found[key(object)] = object
		}
	}
}

func key(object *unstructured.Unstructured) string {
	return object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
}
