package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// SystemNamespace is the manager's own namespace.
const SystemNamespace = "kyklos-system"

// webhookService is the webhooks' Service.
const webhookService = "kyklos-webhook"

// Folders of config that are complete installations.
const (
	// Default gets its certificates from cert-manager.
	Default = "default"
	// SelfManaged needs nothing but Kubernetes.
	SelfManaged = "overlays/self-managed"
	// WithoutWorkspaces is Default without Workspaces, and SomeWorkspaces has them in the namespace team only.
	WithoutWorkspaces = "overlays/without-workspaces"
	SomeWorkspaces    = "overlays/workspace-namespaces"
	// Namespaced serves only the namespace shop. Its folder cluster has the cluster-scoped objects.
	Namespaced = "overlays/namespaced"
)

// Change changes one object of an installation before it is applied.
type Change func(object *unstructured.Unstructured) error

// Install applies the shipped SelfManaged installation, with one change: the manager is a process of this machine instead of
// a Deployment, so the webhooks' Service points to webhookPort on loopback.
func (c *Cluster) Install(ctx context.Context, webhookPort int) error {
	root, err := Root()
	if err != nil {
		return err
	}
	return c.InstallFrom(ctx, filepath.Join(root, "config", SelfManaged), webhookPort)
}

// InstallOnFreePort is Install with a free port for the webhooks, which it returns.
func (c *Cluster) InstallOnFreePort(ctx context.Context) (webhookPort int, err error) {
	if webhookPort, err = FreePort(); err != nil {
		return 0, err
	}
	return webhookPort, c.Install(ctx, webhookPort)
}

// InstallFrom is Install of the installation in folder, with further changes.
func (c *Cluster) InstallFrom(ctx context.Context, folder string, webhookPort int, changes ...Change) error {
	manifests, err := c.Render(ctx, folder, webhookPort, changes...)
	if err != nil {
		return err
	}
	if err := c.Apply(ctx, manifests); err != nil {
		return err
	}
	_, _, err = c.Kubectl(ctx, "", "wait", "--for=condition=Established", "--timeout=5m", "--all", "crd")
	return err
}

// Apply applies manifests as the documentation does.
func (c *Cluster) Apply(ctx context.Context, manifests string) error {
	_, _, err := c.Kubectl(ctx, manifests, "apply", "--server-side", "--force-conflicts", "-f", "-")
	return err
}

// Render returns the manifests that InstallFrom applies.
func (c *Cluster) Render(ctx context.Context, folder string, webhookPort int, changes ...Change) (string, error) {
	rendered, _, err := c.Kubectl(ctx, "", "kustomize", folder)
	if err != nil {
		return "", err
	}
	manifests, err := changed(rendered, append([]Change{onLoopback(webhookPort)}, changes...))
	if err != nil {
		return "", fmt.Errorf("prepare %s: %w", folder, err)
	}
	return manifests, nil
}

// changed returns the changed manifests without the Deployments.
func changed(manifests string, changes []Change) (string, error) {
	var out strings.Builder
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return out.String(), nil
		}
		if err != nil {
			return "", err
		}
		if object.GetKind() == "Deployment" {
			continue
		}
		for _, change := range changes {
			if err := change(object); err != nil {
				return "", fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
			}
		}
		text, err := sigsyaml.Marshal(object.Object)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "---\n%s", text)
	}
}

// onLoopback makes the webhooks' Service an alias of this machine. An API server uses the port of the webhook configuration,
// and still expects a certificate for the Service.
func onLoopback(port int) Change {
	return func(object *unstructured.Unstructured) error {
		switch {
		case object.GetKind() == "Service" && object.GetName() == webhookService:
			spec := map[string]any{"type": "ExternalName", "externalName": "127.0.0.1"}
			return unstructured.SetNestedMap(object.Object, spec, "spec")
		case strings.HasSuffix(object.GetKind(), "WebhookConfiguration"):
			return EachWebhook(object, func(webhook map[string]any) error {
				return unstructured.SetNestedField(webhook, int64(port), "clientConfig", "service", "port")
			})
		case object.GetKind() == "CustomResourceDefinition":
			return convertOnLoopback(object, port)
		}
		return nil
	}
}

// EachWebhook changes every webhook of a webhook configuration, and leaves other objects alone.
func EachWebhook(object *unstructured.Unstructured, change func(webhook map[string]any) error) error {
	webhooks, found, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil || !found {
		return err
	}
	for _, item := range webhooks {
		webhook, ok := item.(map[string]any)
		if !ok {
			return errors.New("a webhook is not an object")
		}
		if err := change(webhook); err != nil {
			return err
		}
	}
	return unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
}

// convertOnLoopback does not change a definition without a conversion webhook.
func convertOnLoopback(definition *unstructured.Unstructured, port int) error {
	service := []string{"spec", "conversion", "webhook", "clientConfig", "service"}
	_, found, err := unstructured.NestedMap(definition.Object, service...)
	if err != nil || !found {
		return err
	}
	return unstructured.SetNestedField(definition.Object, int64(port), append(service, "port")...)
}
