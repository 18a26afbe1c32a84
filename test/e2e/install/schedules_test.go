package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kyklos.io/kyklos/test/harness"
)

const definition = "timewindowscalers.kyklos.io"

// redirectWebhooks sends the webhooks' calls to the manager's process: the Service becomes an alias of this machine, and
// its callers name the process's port. An upgrade must keep this, like everything that others write.
func (s *scenario) redirectWebhooks() {
	s.Helper()
	s.run(`kubectl -n kyklos-system patch service kyklos-webhook --type=merge -p '{"spec":{"type":"ExternalName","externalName":"127.0.0.1"}}'`)
	for _, webhook := range []string{"mutating 0", "validating 0", "validating 1"} { // those of TimeWindowScalers
		kind, index, _ := strings.Cut(webhook, " ")
		s.run(fmt.Sprintf(`kubectl patch %swebhookconfiguration kyklos-webhook --type=json -p '[{"op":"add","path":"/webhooks/%s/clientConfig/service/port","value":%d}]'`, kind, index, s.port))
	}
	s.run(fmt.Sprintf(`kubectl patch crd %s --type=merge -p '{"spec":{"conversion":{"webhook":{"clientConfig":{"service":{"port":%d}}}}}}'`, definition, s.port))
}

// startManager starts the manager and returns a function that stops it.
func (s *scenario) startManager() (stop func()) {
	s.Helper()
	manager := s.StartManager(harness.ManagerOptions{WebhookPort: s.port, Args: []string{
		"--leader-elect=false", "--storage-migration-delay=1s",
		"--webhook-names=kyklos-webhook.kyklos-system.svc", // the API server expects the Service's name
	}})
	s.AwaitReady(manager)
	return func() { _ = manager.Stop() } // its permissions may be gone already
}

// schedule is a Deployment and a scaler of a version that always wants three replicas of it.
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

// tryApply applies a manifest in a namespace.
func (s *scenario) tryApply(namespace, manifest string) error {
	s.Helper()
	path := filepath.Join(s.TempDir(), "manifest.yaml")
	s.Must(os.WriteFile(path, []byte(manifest), 0o600))
	_, err := s.try("kubectl apply -n " + namespace + " -f " + path)
	return err
}

// apply is tryApply of a manifest that must be accepted.
func (s *scenario) apply(namespace, manifest string) {
	s.Helper()
	s.Must(s.tryApply(namespace, manifest))
}

func (s *scenario) awaitReplicas(namespace, name, want string) {
	s.Helper()
	s.await(fmt.Sprintf("kubectl -n %s get deployment %s -o jsonpath={.spec.replicas}", namespace, name), want)
}

// workloads returns what an upgrade must not touch: the UID and generation of every target and scaler.
func (s *scenario) workloads() string {
	s.Helper()
	const each = `-o jsonpath='{range .items[*]}{.kind} {.metadata.name} {.metadata.uid} {.metadata.generation}{"\n"}{end}'`
	return s.run("kubectl -n shop get deployments " + each + " && kubectl -n shop get tws " + each)
}

// authorities returns the CA in the callers of the webhooks.
func (s *scenario) authorities() string {
	s.Helper()
	got := s.run(`kubectl get mutatingwebhookconfiguration,validatingwebhookconfiguration kyklos-webhook -o jsonpath='{.items[*].webhooks[0].clientConfig}'` +
		` && kubectl get crd ` + definition + ` -o jsonpath='{.spec.conversion.webhook.clientConfig}'`)
	if n := strings.Count(got, `"caBundle"`); n != 3 {
		s.Fatalf("got %d CAs, want 3: %s", n, got)
	}
	return got
}
