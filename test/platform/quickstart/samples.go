package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"text/template"
	"time"

	"kyklos.io/kyklos/test/harness"
)

// applySamples applies config/samples, and the sample for the current time.
func applySamples(ctx context.Context, cluster *harness.Cluster, now time.Time) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	samples := filepath.Join(root, "config", "samples")
	if _, _, err := cluster.Kubectl(ctx, "", "apply", "-k", samples); err != nil {
		return err
	}
	soon, err := renderSoon(filepath.Join(samples, "soon", "soon.yaml.tmpl"), now)
	if err != nil {
		return err
	}
	_, _, err = cluster.Kubectl(ctx, soon, "apply", "-f", "-")
	return err
}

// applyWorkspace applies the workspace that runs on this machine, and the Secret of its archive.
func applyWorkspace(ctx context.Context, cluster *harness.Cluster, store *harness.ObjectStore) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	local := filepath.Join(root, "config", "samples", "workspaces", "local")
	if _, _, err := cluster.Kubectl(ctx, "", "apply", "-f", filepath.Join(local, "mia.yaml")); err != nil {
		return err
	}
	secret, err := template.ParseFiles(filepath.Join(local, "archive.yaml.tmpl"))
	if err != nil {
		return fmt.Errorf("read the sample: %w", err)
	}
	var rendered bytes.Buffer
	if err := secret.Execute(&rendered, store); err != nil {
		return err
	}
	_, _, err = cluster.Kubectl(ctx, rendered.String(), "apply", "-f", "-")
	return err
}

// renderSoon renders a window that starts within two minutes and lasts one.
func renderSoon(path string, now time.Time) (string, error) {
	soon, err := template.ParseFiles(path)
	if err != nil {
		return "", fmt.Errorf("read the sample: %w", err)
	}
	const timeToLook = 20 * time.Second
	start := now.UTC().Add(timeToLook).Truncate(time.Minute).Add(time.Minute)
	var rendered bytes.Buffer
	err = soon.Execute(&rendered, struct{ Start, End string }{
		Start: start.Format("15:04"),
		End:   start.Add(time.Minute).Format("15:04"),
	})
	return rendered.String(), err
}
