package installation

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

// workloads are one target of each kind, and what else a schedule may look at.
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

// scalers want two web servers, one database, no agents, one of what is not there, three of the old ones,
// a workspace that runs, and five workers, because of the metric.
var scalers = scaler("web", "apps/v1", "Deployment", 2, "holidays: {mode: treat-as-closed, sourceRef: {name: public-holidays}}") +
	scaler("db", "apps/v1", "StatefulSet", 1) + scaler("agent", "apps/v1", "DaemonSet", 0) + scaler("lost", "apps/v1", "Deployment", 1) +
	scaler("old", "v1", "ReplicationController", 3) + scaler("ada", "kyklos.io/v1alpha1", "Workspace", 1) +
	scaler("workers", "apps/v1", "Deployment", 0, `windows: [{days: [Mon, Tue, Wed, Thu, Fri, Sat, Sun], start: "00:00", end: "24:00", replicas: 1, `+
		`metric: {name: queue_depth, target: {type: AverageValue, averageValue: "30"}, maxReplicas: 20}}]`)

// scaler is a schedule that always wants the same count, unless more fields change that.
func scaler(name, apiVersion, kind string, replicas int, more ...string) string {
	if len(more) == 0 || !strings.HasPrefix(more[0], "windows:") {
		more = append(more, fmt.Sprintf(`windows: [{days: [Mon], start: "09:00", end: "17:00", replicas: %d}]`, replicas))
	}
	return fmt.Sprintf("---\n{apiVersion: kyklos.io/v1beta1, kind: TimeWindowScaler, metadata: {name: %[1]s}, spec: {targetRef: {apiVersion: %[2]s, kind: %[3]s, name: %[1]s}, "+
		"timezone: UTC, defaultReplicas: %[4]d, %[5]s}}\n", name, apiVersion, kind, replicas, strings.Join(more, ", "))
}

// scales has the manager deal with every kind of target in the namespace: where another client comes in
// between each read and its write, after a drift, and while a target is missing.
func (s *site) scales(namespace string, args ...string) {
	s.Helper()
	s.kubectl(workloads, "apply", "-n", namespace, "-f", "-")
	proxy, err := s.cluster.StartProxy()
	s.must(err)
	s.Cleanup(proxy.Close)
	proxy.Inject(s.comesInBetween(namespace))
	// API servers before Kubernetes 1.34 do not send what there is at the begin of a watch.
	m := s.manager(harness.ManagerOptions{Args: args, Proxy: proxy, Env: []string{"KUBE_FEATURE_WatchListClient=false"}})
	s.kubectl(scalers, "apply", "-n", namespace, "-f", "-")
	s.scaled(namespace)
	s.must(m.Stop())

	clock := harness.Clock(filepath.Join(s.TempDir(), "clock"))
	m = s.manager(harness.ManagerOptions{Args: args, Binary: movable, Env: []string{clock.Env()}})
	s.kubectl("", "scale", "-n", namespace, "--replicas=7", "deployment/web", "statefulset/db", "rc/old", "deployment/workers")
	s.kubectl("", "patch", "-n", namespace, "daemonset/agent", "--type=merge", "-p", `{"spec":{"template":{"spec":{"nodeSelector":null}}}}`)
	s.scaled(namespace)
	// Each manager has told once that a target is missing. Told anew, after five minutes, it is folded into the former event.
	missing := []string{"-n", namespace, "events", "--field-selector=reason=MissingTarget,involvedObject.name=lost"}
	s.reads("MissingTarget MissingTarget", append(missing, "-o=jsonpath={.items[*].reason}")...)
	s.must(clock.Shift(6 * time.Minute))
	s.reads("2", append(missing, "-o=jsonpath={.items[*].series.count}")...)
	s.must(m.Stop())
}

// scaled waits until every target of the namespace has what its scaler wants.
func (s *site) scaled(namespace string) {
	s.Helper()
	for target, replicas := range map[string]int{"deployment/web": 2, "deployment/workers": 5, "statefulset/db": 1, "rc/old": 3} {
		s.awaits(namespace, target, "{.spec.replicas}", strconv.Itoa(replicas))
	}
	s.awaits(namespace, "workspace/ada", "{.spec.desiredState}", "RUNNING")
	s.awaits(namespace, "daemonset/agent", `{.spec.template.spec.nodeSelector.kyklos\.io/suspended}`, "true")
}

// comesInBetween writes to each target just before the manager's first write to it, which is refused
// for that; the manager then reads the target anew.
func (s *site) comesInBetween(namespace string) harness.Fault {
	var once sync.Map
	return func(r harness.Request, after bool) {
		for _, target := range []string{"deployments/web", "statefulsets/db", "daemonsets/agent"} {
			path := "/apis/apps/v1/namespaces/" + namespace + "/" + target
			if after || r.Method != http.MethodPatch || r.Path != path && r.Path != path+"/scale" {
				continue
			}
			if _, done := once.LoadOrStore(target, true); !done {
				_, _, _ = s.cluster.Kubectl(s.Context(), "", "annotate", "-n", namespace, target, "by=another")
			}
		}
	}
}

// migrates moves the storage version to v1alpha1, by the cluster's migrator, and back by Kyklos itself.
func (s *site) migrates() {
	s.Helper()
	s.stores("v1alpha1", 0)
	s.reads("", "storageversionmigration", "-o=name") // it removes what it asked for
	// Somebody else's request keeps Kyklos from asking the cluster.
	s.kubectl("{apiVersion: storagemigration.k8s.io/v1, kind: StorageVersionMigration, metadata: {name: kyklos-timewindowscalers.kyklos.io}, "+
		"spec: {resource: {group: \"\", resource: configmaps}}}", "apply", "-f", "-")
	s.stores("v1beta1", 1)
}

func (s *site) stores(version string, index int) {
	s.Helper()
	s.kubectl("", "patch", "crd/timewindowscalers.kyklos.io", "--type=json", "-p", fmt.Sprintf(
		`[{"op":"replace","path":"/spec/versions/0/storage","value":%t},{"op":"replace","path":"/spec/versions/1/storage","value":%t}]`, index == 0, index == 1))
	s.eventually("the migration to "+version+" completed", func() bool {
		notes, _, _ := s.cluster.Kubectl(s.Context(), "", "get", "events", "-n", "default", "-o=jsonpath={.items[?(@.reason=='StorageMigrationCompleted')].message}")
		return strings.Contains(notes, "stored as "+version)
	})
	s.reads(`["`+version+`"]`, "crd/timewindowscalers.kyklos.io", "-o=jsonpath={.status.storedVersions}")
}

// guardsMetrics reads the metrics as somebody who may.
func (s *site) guardsMetrics(port int) {
	s.Helper()
	s.kubectl("", "create", "serviceaccount", "-n", "default", "prometheus")
	s.kubectl("", "create", "clusterrolebinding", "prometheus", "--clusterrole=kyklos-metrics-reader", "--serviceaccount=default:prometheus")
	token, _ := s.kubectl("", "create", "token", "-n", "default", "prometheus")
	// The metrics' certificate is self-signed; who may read is what counts.
	insecure := &http.Client{Timeout: time.Minute, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	s.eventually("the metrics", func() bool {
		request, err := http.NewRequestWithContext(s.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/metrics", port), nil)
		s.must(err)
		request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(token))
		response, err := insecure.Do(request)
		if err != nil {
			return false
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
}

// replacesTheCA takes the CA out of its Secret and waits for another one.
func (s *site) replacesTheCA() {
	s.Helper()
	s.kubectl("", "patch", "-n", harness.SystemNamespace, "secret/kyklos-webhook-ca", "--type=merge", "-p", `{"data":{"tls.crt":""}}`)
	s.eventually("another CA", func() bool {
		data, _, _ := s.cluster.Kubectl(s.Context(), "", "get", "-n", harness.SystemNamespace, "secret/kyklos-webhook-ca", `-o=jsonpath={.data.tls\.crt}`)
		return data != ""
	})
}
