package chart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"kyklos.io/kyklos/test/harness"
)

const (
	// patience is how long a test waits for what should happen soon; only a failing test takes it.
	patience   = 3 * time.Minute
	definition = "timewindowscalers.kyklos.io"
)

// lead leads the webhooks' calls to the manager's process: the Service becomes a name for this machine, and
// its callers name the process's port. An upgrade must leave this alone, as all that others write.
func (s *stage) lead() {
	s.Helper()
	s.run(`kubectl -n kyklos-system patch service kyklos-webhook --type=merge -p '{"spec":{"type":"ExternalName","externalName":"127.0.0.1"}}'`)
	for _, kind := range []string{"mutating", "validating"} {
		s.run(fmt.Sprintf(`kubectl patch %swebhookconfiguration kyklos-webhook --type=json -p '[{"op":"add","path":"/webhooks/0/clientConfig/service/port","value":%d}]'`, kind, s.port))
	}
	s.run(fmt.Sprintf(`kubectl patch crd %s --type=merge -p '{"spec":{"conversion":{"webhook":{"clientConfig":{"service":{"port":%d}}}}}}'`, definition, s.port))
}

// manage runs the manager, as the shipped ServiceAccount, until the stage or the returned function ends it.
func (s *stage) manage() (stop func()) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	manager, err := s.cluster.StartManager(ctx, harness.ManagerOptions{WebhookPort: s.port, Args: []string{
		"--leader-elect=false", "--storage-migration-delay=1s",
		"--webhook-names=kyklos-webhook.kyklos-system.svc", // what the API server expects of the Service
	}})
	if err != nil {
		s.Fatal(err)
	}
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			_ = manager.Stop() // its permissions may be gone already
		}
	}
	s.Cleanup(stop)
	if err := manager.AwaitReady(ctx); err != nil {
		s.Fatal(err)
	}
	return stop
}

// schedule is one that always wants three replicas, in a version, of a Deployment of its own.
func schedule(name, version, more string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s}
spec:
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {containers: [{name: web, image: "nginx:stable"}]}
---
apiVersion: kyklos.io/%[2]s
kind: TimeWindowScaler
metadata: {name: %[1]s}
spec:
  targetRef: {kind: Deployment, name: %[1]s}
  timezone: UTC
  defaultReplicas: 3
  windows: [{days: [Mon], start: "09:00", end: "17:00", replicas: 3}]
%[3]s`, name, version, more)
}

// apply applies a manifest in a namespace.
func (s *stage) apply(namespace, manifest string) error {
	s.Helper()
	path := filepath.Join(s.TempDir(), "manifest.yaml")
	if err := os.WriteFile(path, []byte(manifest), 0o600); err != nil {
		s.Fatal(err)
	}
	_, err := s.try("kubectl apply -n " + namespace + " -f " + path)
	return err
}

func (s *stage) mustApply(namespace, manifest string) {
	s.Helper()
	if err := s.apply(namespace, manifest); err != nil {
		s.Fatal(err)
	}
}

// await waits until a command prints want, and nothing else.
func (s *stage) await(command, want string) {
	s.Helper()
	var got string
	var failed error
	err := wait.PollUntilContextTimeout(s.Context(), 200*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		got, failed = s.try(command)
		return failed == nil && strings.TrimSpace(got) == want, nil
	})
	if err != nil {
		s.Fatal(errors.Join(fmt.Errorf("%s prints %q, want %q", command, got, want), failed))
	}
}

func (s *stage) awaitReplicas(namespace, name, want string) {
	s.Helper()
	s.await(fmt.Sprintf("kubectl -n %s get deployment %s -o jsonpath={.spec.replicas}", namespace, name), want)
}

// workloads is all that an upgrade must not touch: every scaler's identity and generation, every target's
// generation, and the CA in all that calls the webhooks.
func (s *stage) workloads() string {
	s.Helper()
	const each = `-o jsonpath='{range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.metadata.generation}{"\n"}{end}'`
	return s.run("kubectl -n shop get deployments " + each + " && kubectl -n shop get tws " + each)
}

func (s *stage) authorities() string {
	s.Helper()
	got := s.run(`kubectl get mutatingwebhookconfiguration,validatingwebhookconfiguration kyklos-webhook -o jsonpath='{.items[*].webhooks[0].clientConfig}'` +
		` && kubectl get crd ` + definition + ` -o jsonpath='{.spec.conversion.webhook.clientConfig}'`)
	if n := strings.Count(got, `"caBundle"`); n != 3 {
		s.Fatalf("%d of 3 have a CA: %s", n, got)
	}
	return got
}
