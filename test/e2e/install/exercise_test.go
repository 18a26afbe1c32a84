package install

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"kyklos.io/kyklos/test/harness"
)

// workloads are one target of each kind, and the other objects that schedules read.
const workloads = `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 0, selector: {matchLabels: {app: web}}, template: &pods {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: workers}, spec: {replicas: 0, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {replicas: 0, serviceName: db, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: agent}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}}
---
{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: ada}, spec: {image: web, desiredState: STANDBY}}
---
{apiVersion: v1, kind: ReplicationController, metadata: {name: old}, spec: {replicas: 0, selector: {app: web}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web}]}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: public-holidays}, data: {"2025-01-01": New Year}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: external-metrics}, data: {queue_depth: '[{value: "150"}]'}}
`

// scalers want two replicas of web, one of db, no agent, one of a missing target, three of old, a running workspace, and
// five workers, because of the metric.
var scalers = scaler("web", "apps/v1", "Deployment", 2, "holidays: {mode: treat-as-closed, sourceRef: {name: public-holidays}}") +
	scaler("db", "apps/v1", "StatefulSet", 1) + scaler("agent", "apps/v1", "DaemonSet", 0) + scaler("lost", "apps/v1", "Deployment", 1) +
	scaler("old", "v1", "ReplicationController", 3) + scaler("ada", "kyklos.io/v1alpha1", "Workspace", 1) +
	scaler("workers", "apps/v1", "Deployment", 0, `windows: [{days: [Mon, Tue, Wed, Thu, Fri, Sat, Sun], start: "00:00", end: "24:00", replicas: 1, `+
		`metric: {name: queue_depth, target: {type: AverageValue, averageValue: "30"}, maxReplicas: 20}}]`)

// scaler is a schedule that always wants the same replicas, unless more fields change that.
func scaler(name, apiVersion, kind string, replicas int, more ...string) string {
	if len(more) == 0 || !strings.HasPrefix(more[0], "windows:") {
		more = append(more, fmt.Sprintf(`windows: [{days: [Mon], start: "09:00", end: "17:00", replicas: %d}]`, replicas))
	}
	return fmt.Sprintf("---\n{apiVersion: kyklos.io/v1beta1, kind: TimeWindowScaler, metadata: {name: %[1]s}, spec: {targetRef: {apiVersion: %[2]s, kind: %[3]s, name: %[1]s}, "+
		"timezone: UTC, defaultReplicas: %[4]d, %[5]s}}\n", name, apiVersion, kind, replicas, strings.Join(more, ", "))
}

// exercise has the manager scale every kind of target in the namespace: with conflicting writes of another client, after
// drift, and with a missing target. Without Workspaces, that of a Workspace is left alone.
func (s *scenario) exercise(namespace string, args ...string) {
	s.Helper()
	s.Kubectl(workloads, "apply", "-n", namespace, "-f", "-")
	proxy := s.StartProxy()
	proxy.Inject(s.writeInBetween(namespace))
	// API servers before Kubernetes 1.34 do not send the existing objects at the start of a watch.
	m := s.start(harness.ManagerOptions{Args: args, Proxy: proxy, Env: []string{"KUBE_FEATURE_WatchListClient=false"}})
	s.Kubectl(scalers, "apply", "-n", namespace, "-f", "-")
	s.awaitScaled(namespace)
	s.Must(m.Stop())

	clock := harness.Clock(filepath.Join(s.TempDir(), "clock"))
	m = s.start(harness.ManagerOptions{Args: args, Binary: movable, Env: []string{clock.Env()}})
	s.Kubectl("", "scale", "-n", namespace, "--replicas=7", "deployment/web", "statefulset/db", "rc/old", "deployment/workers")
	s.Kubectl("", "patch", "-n", namespace, "daemonset/agent", "--type=merge", "-p", `{"spec":{"template":{"spec":{"nodeSelector":null}}}}`)
	s.awaitScaled(namespace)
	// Each manager has reported once that a target is missing. After five minutes the report joins the former event.
	missing := []string{"-n", namespace, "events", "--field-selector=reason=MissingTarget,involvedObject.name=lost"}
	s.awaitOutput("MissingTarget MissingTarget", append(missing, "-o=jsonpath={.items[*].reason}")...)
	s.Must(clock.Shift(6 * time.Minute))
	s.awaitOutput("2", append(missing, "-o=jsonpath={.items[*].series.count}")...)
	s.Must(m.Stop())
}

// awaitScaled waits until every target of the namespace has what its scaler wants.
func (s *scenario) awaitScaled(namespace string) {
	s.Helper()
	for target, replicas := range map[string]int{"deployment/web": 2, "deployment/workers": 5, "statefulset/db": 1, "rc/old": 3} {
		s.awaitField(namespace, target, "{.spec.replicas}", strconv.Itoa(replicas))
	}
	state, ready := "RUNNING", "Reconciled"
	if s.without {
		state, ready = "STANDBY", "TargetForbidden"
	}
	s.awaitField(namespace, "workspace/ada", "{.spec.desiredState}", state)
	s.awaitField(namespace, "tws/ada", `{.status.conditions[?(@.type=="Ready")].reason}`, ready)
	s.awaitField(namespace, "daemonset/agent", `{.spec.template.spec.nodeSelector.kyklos\.io/suspended}`, "true")
}

// writeInBetween writes to each target just before the manager's first write to it. That write conflicts, and the manager
// reads the target again.
func (s *scenario) writeInBetween(namespace string) harness.Fault {
	writes := map[string]*sync.Once{"deployments/web": {}, "statefulsets/db": {}, "daemonsets/agent": {}}
	return func(r harness.Request, after bool) {
		for target, once := range writes {
			path := "/apis/apps/v1/namespaces/" + namespace + "/" + target
			if after || r.Method != http.MethodPatch || r.Path != path && r.Path != path+"/scale" {
				continue
			}
			once.Do(func() { // a copy of the request waits as well
				_, _, _ = s.Cluster.Kubectl(s.Context(), "", "annotate", "-n", namespace, target, "by=another")
			})
		}
	}
}

// migrate changes the storage version to v1alpha1 with the cluster's migrator, and back with Kyklos's own. Then it takes
// v1alpha1 out of service for a moment, with managed fields that name it.
func (s *scenario) migrate() {
	s.Helper()
	s.storeAs("v1alpha1", 0)
	s.awaitOutput("", "storageversionmigration", "-o=name") // Kyklos deletes its request
	// A request of another client keeps Kyklos from using the cluster's migrator.
	s.Kubectl("{apiVersion: storagemigration.k8s.io/v1, kind: StorageVersionMigration, metadata: {name: kyklos-timewindowscalers.kyklos.io}, "+
		"spec: {resource: {group: \"\", resource: configmaps}}}", "apply", "-f", "-")
	s.storeAs("v1beta1", 1)

	s.Kubectl("{apiVersion: kyklos.io/v1alpha1, kind: TimeWindowScaler, metadata: {name: older, namespace: default}, spec: {targetRef: {kind: Deployment, name: older}, "+
		"timezone: UTC, windows: [{days: [Mon], start: \"09:00\", end: \"17:00\", replicas: 1}]}}", "apply", "--server-side", "-f", "-")
	serve := func(served bool) {
		s.Kubectl("", "patch", "crd/timewindowscalers.kyklos.io", "--type=json", "-p", fmt.Sprintf(`[{"op":"replace","path":"/spec/versions/0/served","value":%t}]`, served))
	}
	serve(false)
	s.awaitOutput("ManagedFieldsMoved", "events", "-n", "default", "-o=jsonpath={.items[?(@.reason=='ManagedFieldsMoved')].reason}")
	serve(true)
	s.Kubectl("", "delete", "-n", "default", "tws/older")
}

func (s *scenario) storeAs(version string, index int) {
	s.Helper()
	s.Kubectl("", "patch", "crd/timewindowscalers.kyklos.io", "--type=json", "-p", fmt.Sprintf(
		`[{"op":"replace","path":"/spec/versions/0/storage","value":%t},{"op":"replace","path":"/spec/versions/1/storage","value":%t}]`, index == 0, index == 1))
	s.Until("the migration to "+version+" completed", func() bool {
		notes, _, _ := s.Cluster.Kubectl(s.Context(), "", "get", "events", "-n", "default", "-o=jsonpath={.items[?(@.reason=='StorageMigrationCompleted')].message}")
		return strings.Contains(notes, "stored as "+version)
	})
	s.awaitOutput(`["`+version+`"]`, "crd/timewindowscalers.kyklos.io", "-o=jsonpath={.status.storedVersions}")
}

// readMetrics reads the metrics with the shipped role.
func (s *scenario) readMetrics(port int) {
	s.Helper()
	s.Kubectl("", "create", "serviceaccount", "-n", "default", "prometheus")
	s.Kubectl("", "create", "clusterrolebinding", "prometheus", "--clusterrole=kyklos-metrics-reader", "--serviceaccount=default:prometheus")
	token, _ := s.Kubectl("", "create", "token", "-n", "default", "prometheus")
	// The certificate is self-signed. Only the permission matters here.
	insecure := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	s.Until("the metrics", func() bool {
		request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/metrics", port), nil)
		s.Must(err)
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
		response, err := insecure.Do(request)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// replaceCA removes the CA from its Secret and waits for another one.
func (s *scenario) replaceCA() {
	s.Helper()
	s.Kubectl("", "patch", "-n", harness.SystemNamespace, "secret/kyklos-webhook-ca", "--type=merge", "-p", `{"data":{"tls.crt":""}}`)
	s.Until("another CA", func() bool {
		data, _, _ := s.Cluster.Kubectl(s.Context(), "", "get", "-n", harness.SystemNamespace, "secret/kyklos-webhook-ca", `-o=jsonpath={.data.tls\.crt}`)
		return data != ""
	})
}
