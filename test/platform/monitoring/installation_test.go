package monitoring

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// Each installation's ServiceMonitor finds exactly one of its Services, and verifies it by a name and a CA
// that the installation has.
func TestServiceMonitorFitsTheInstallation(t *testing.T) {
	for installation, monitoring := range map[string]string{"default": "prometheus", "overlays/self-managed": "overlays/self-managed-prometheus"} {
		t.Run(installation, func(t *testing.T) {
			installed := render(t, installation)
			monitor := &monitoringv1.ServiceMonitor{}
			mustDecode(t, only(t, render(t, monitoring), "ServiceMonitor"), monitor)
			endpoint := monitor.Spec.Endpoints[0]
			var found []string
			for _, document := range ofKind(installed, "Service") {
				service := &corev1.Service{}
				mustDecode(t, document, service)
				if selects(monitor.Spec.Selector.MatchLabels, service.Labels) && hasPort(service, endpoint.Port) {
					found = append(found, service.Name)
				}
			}
			// The rules ask for the job, which is the Service's name.
			if !slices.Equal(found, []string{"kyklos-metrics"}) {
				t.Errorf("the ServiceMonitor finds the Services %q", found)
			}
			if endpoint.TLSConfig == nil || endpoint.TLSConfig.ServerName == nil || endpoint.TLSConfig.CA.Secret == nil {
				t.Fatal("it verifies nothing, and shows its token to anybody")
			}
			checkCertificate(t, installed, *endpoint.TLSConfig.ServerName, endpoint.TLSConfig.CA.Secret)
		})
	}
}

// checkCertificate finds the certificate from cert-manager with the name and the Secret; without any, the
// CA is where the manager's flag says by default.
func checkCertificate(t *testing.T, installed []string, serverName string, ca *corev1.SecretKeySelector) {
	t.Helper()
	certificates := ofKind(installed, "Certificate")
	if len(certificates) == 0 {
		flag := "| `--webhook-ca-secret` | `" + ca.Name + "` |"
		if !strings.Contains(string(mustRead(t, root+"/docs/manager-flags.md")), flag) || ca.Key != corev1.TLSCertKey {
			t.Errorf("the CA is not in the Secret %s, key %s", ca.Name, ca.Key)
		}
		return
	}
	matches := func(document []byte) bool {
		var certificate struct {
			Spec struct {
				SecretName string
				DNSNames   []string
			}
		}
		must(t, yaml.Unmarshal(document, &certificate))
		return certificate.Spec.SecretName == ca.Name && slices.Contains(certificate.Spec.DNSNames, serverName)
	}
	if !slices.ContainsFunc(certificates, matches) || ca.Key != "ca.crt" {
		t.Errorf("no certificate for %s in the Secret %s, or no CA under its key %s", serverName, ca.Name, ca.Key)
	}
}

// The dashboard reaches Grafana's sidecar whole.
func TestTheDashboardsConfigMap(t *testing.T) {
	dashboards := &corev1.ConfigMap{}
	mustDecode(t, only(t, render(t, "grafana"), "ConfigMap"), dashboards)
	if dashboards.Labels["grafana_dashboard"] != "1" {
		t.Errorf("the sidecar does not see it: %v", dashboards.Labels)
	}
	if dashboards.Data["kyklos.json"] != string(mustRead(t, root+"/config/grafana/kyklos.json")) {
		t.Error("the ConfigMap holds something else than the dashboard")
	}
}

// render returns the documents of a folder of config, as kustomize makes them.
func render(t *testing.T, folder string) []string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), root+"/bin/devcluster", "kubectl", "kustomize", root+"/config/"+folder).Output()
	if err != nil {
		t.Fatalf("%v (does make build pass?)", err)
	}
	return strings.Split(string(output), "\n---\n")
}

func ofKind(documents []string, kind string) [][]byte {
	var found [][]byte
	for _, document := range documents {
		if strings.Contains("\n"+document, "\nkind: "+kind+"\n") {
			found = append(found, []byte(document))
		}
	}
	return found
}

func only(t *testing.T, documents []string, kind string) []byte {
	t.Helper()
	found := ofKind(documents, kind)
	if len(found) != 1 {
		t.Fatalf("%d objects of kind %s", len(found), kind)
	}
	return found[0]
}

func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return true
}

func hasPort(service *corev1.Service, name string) bool {
	return slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool { return p.Name == name })
}
