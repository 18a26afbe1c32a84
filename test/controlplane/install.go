package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// SystemNamespace is where the manager keeps what belongs to itself.
const SystemNamespace = "kyklos-system"

// Folders of config that make a whole installation.
const (
	// Default has its certificates from cert-manager.
	Default = "default"
	// SelfManaged needs nothing but Kubernetes.
	SelfManaged = "overlays/self-managed"
)

// Install applies the SelfManaged installation as it is shipped, but for two things: the manager is
// a process of this machine instead of a Deployment, so the webhooks are called at webhookPort on
// loopback instead of through a Service.
func (c *Cluster) Install(ctx context.Context, webhookPort int) error {
	root, err := Root()
	if err != nil {
		return err
	}
	return c.InstallFrom(ctx, filepath.Join(root, "config", SelfManaged), webhookPort)
}

// InstallFrom is Install of the installation that folder holds.
func (c *Cluster) InstallFrom(ctx context.Context, folder string, webhookPort int) error {
	manifests, err := c.Render(ctx, folder, webhookPort)
	if err != nil {
		return err
	}
	if _, _, err := c.Kubectl(ctx, manifests, "apply", "--server-side", "--force-conflicts", "-f", "-"); err != nil {
		return err
	}
	_, _, err = c.Kubectl(ctx, "", "wait", "--for=condition=Established", "--timeout=60s", "crd/timewindowscalers.kyklos.io")
	return err
}

// Render returns the manifests that InstallFrom applies.
func (c *Cluster) Render(ctx context.Context, folder string, webhookPort int) (string, error) {
	rendered, _, err := c.Kubectl(ctx, "", "kustomize", folder)
	if err != nil {
		return "", err
	}
	manifests, err := onLoopback(rendered, webhookPort)
	if err != nil {
		return "", fmt.Errorf("prepare %s: %w", folder, err)
	}
	return manifests, nil
}

func onLoopback(rendered string, webhookPort int) (string, error) {
	var out strings.Builder
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(rendered), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return "", err
		}
		switch object.GetKind() {
		case "Deployment", "Service":
			continue
		case "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration":
			if err := callOnLoopback(object, webhookPort); err != nil {
				return "", err
			}
		case "CustomResourceDefinition":
			if err := convertOnLoopback(object, webhookPort); err != nil {
				return "", err
			}
		}
		text, err := sigsyaml.Marshal(object.Object)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "---\n%s", text)
	}
}

func callOnLoopback(configuration *unstructured.Unstructured, port int) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, item := range webhooks {
		webhook, ok := item.(map[string]any)
		if !ok {
			return fmt.Errorf("a webhook of %s is no object", configuration.GetName())
		}
		path, _, err := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		if err != nil {
			return err
		}
		webhook["clientConfig"] = map[string]any{"url": fmt.Sprintf("https://127.0.0.1:%d%s", port, path)}
	}
	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}

// convertOnLoopback leaves a definition without a conversion webhook as it is.
func convertOnLoopback(definition *unstructured.Unstructured, port int) error {
	path, found, err := unstructured.NestedString(definition.Object, "spec", "conversion", "webhook", "clientConfig", "service", "path")
	if err != nil || !found {
		return err
	}
	config := map[string]any{"url": fmt.Sprintf("https://127.0.0.1:%d%s", port, path)}
	return unstructured.SetNestedMap(definition.Object, config, "spec", "conversion", "webhook", "clientConfig")
}

// FreePort returns a loopback port that nobody listens on now.
func FreePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
