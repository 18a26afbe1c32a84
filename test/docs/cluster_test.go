package docs

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"kyklos.io/kyklos/test/harness"
)

// patience is how long a test waits for other processes on a busy machine. Only a failing test takes that long.
const patience = 3 * time.Minute

// kubectl applies every sample to a real API server with Kyklos, and gets exactly the messages that the file expects: none
// for valid samples.
func TestSamplesOnAnAPIServer(t *testing.T) {
	cluster := startKyklos(t)
	for group, samples := range map[string][]sample{
		"valid":            append(readSamples(t, "*.yaml"), soon(t)),
		"valid-v1alpha1":   readSamples(t, "v1alpha1/*.yaml"),
		"invalid":          readSamples(t, "invalid/*.yaml"),
		"invalid-v1alpha1": append(readSamples(t, "invalid/v1alpha1/*.yaml"), inV1alpha1(t, readSamples(t, "invalid/*.yaml"))...),
		"warnings":         readSamples(t, "warnings/*.yaml"),
		"ws":               readSamples(t, "workspaces/*.yaml"),
		"ws-invalid":       readSamples(t, "workspaces/invalid/*.yaml"),
		"ws-warnings":      readSamples(t, "workspaces/warnings/*.yaml"),
	} {
		for _, s := range samples {
			t.Run(group+"/"+s.name, func(t *testing.T) { checkSample(t, cluster, group+"-"+s.name, s) })
		}
	}
	t.Run("commands", func(t *testing.T) { kubectlCommands(t, cluster, "docs/v1beta1.md") })
	t.Run("kyklos", func(t *testing.T) { clusterCommands(t, cluster) })
	t.Run("alerts", func(t *testing.T) { diagnosticCommands(t, cluster, "docs/alerts.md", "alerts-sample") })
	t.Run("explain", func(t *testing.T) { explains(t, cluster) })
}

// diagnosticCommands runs the commands of a page that diagnose a schedule or Workspace, except those that need a kubelet
// or an adapter.
func diagnosticCommands(t *testing.T, cluster *harness.Cluster, page, namespace string) {
	kubectl := func(args ...string) {
		t.Helper()
		if _, _, err := cluster.Kubectl(t.Context(), "", args...); err != nil {
			t.Error(err)
		}
	}
	kubectl("create", "namespace", namespace)
	kubectl("apply", "-n", namespace, "-f", samplesDir+"/office-hours.yaml", "-f", samplesDir+"/workspaces/minimal.yaml")
	stand := strings.NewReplacer("NAMESPACE", namespace, "NAME", "webapp-office-hours", "WORKSPACE", "notebook")
	ran := 0
	for _, command := range regexp.MustCompile(`(?m)^    kubectl (.*)$`).FindAllStringSubmatch(readText(t, page), -1) {
		args := strings.Fields(stand.Replace(command[1]))
		if slices.Contains(args, "logs") || slices.Contains(args, "top") || slices.Contains(args, "apply") || strings.Contains(command[1], "external.metrics") {
			continue
		}
		ran++
		kubectl(args...)
	}
	if ran == 0 {
		t.Errorf("%s shows no commands", page)
	}
}

// kubectlCommands runs the kubectl commands that a page shows with a prompt, in their order.
func kubectlCommands(t *testing.T, cluster *harness.Cluster, page string) {
	prompt := regexp.MustCompile(`(?m)^ *\$ kubectl (.*)$`)
	shown := prompt.FindAllStringSubmatch(readText(t, page), -1)
	if len(shown) == 0 {
		t.Errorf("%s shows no commands", page)
	}
	for _, command := range shown {
		args := strings.Fields(strings.ReplaceAll(command[1], "config/", root+"/config/"))
		if _, _, err := cluster.Kubectl(t.Context(), "", args...); err != nil {
			t.Error(err)
		}
	}
}

// checkSample applies all documents but the last, and then the last one as a dry run. It retries while the messages differ:
// the manager's caches are milliseconds behind.
func checkSample(t *testing.T, cluster *harness.Cluster, namespace string, s sample) {
	kubectl := func(stdin string, args ...string) (string, error) {
		_, stderr, err := cluster.Kubectl(t.Context(), stdin, args...)
		return stderr, err
	}
	if before := s.documents[:len(s.documents)-1]; len(before) > 0 {
		namespaceObject := "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " + namespace
		manifest := strings.Join(append([]string{namespaceObject}, before...), "\n---\n")
		if stderr, err := kubectl(manifest, "apply", "-n", namespace, "-f", "-"); err != nil {
			t.Fatal(stderr, err)
		}
	} else {
		namespace = "default" // nothing is left behind
	}
	difference := ""
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience/4, true, func(context.Context) (bool, error) {
		difference = s.check(namespace, func(manifest string) (string, error) {
			return kubectl(manifest, "apply", "--dry-run=server", "-n", namespace, "-f", "-")
		})
		return difference == "", nil
	})
	if err != nil {
		t.Error(difference)
	}
}

// startKyklos runs an API server and a manager for one test.
func startKyklos(t *testing.T) *harness.Cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cluster := harness.StartFor(t)
	port, err := cluster.InstallOnFreePort(ctx)
	harness.Must(t, err)
	manager, err := cluster.StartManager(ctx, harness.ManagerOptions{WebhookPort: port, Args: []string{"--leader-elect=false"}})
	harness.Must(t, err)
	t.Cleanup(func() {
		if err := manager.Stop(); err != nil {
			t.Error(err)
		}
	})
	harness.Must(t, manager.AwaitReady(ctx))
	return cluster
}
