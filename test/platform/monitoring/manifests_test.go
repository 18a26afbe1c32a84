// Package monitoring holds config/prometheus and config/grafana to the real thing: Prometheus's own rule
// and query engine, and what a manager on a real API server serves as metrics.
package monitoring

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

const root = "../../.."

// promQL reads queries as Prometheus does by default.
var promQL = parser.NewParser(parser.Options{})

// ruleFile writes the groups of all PrometheusRules into a file of Prometheus's own format.
func ruleFile(t *testing.T) string {
	t.Helper()
	var groups []any
	for _, path := range ruleManifests(t) {
		var manifest struct {
			Spec struct {
				Groups []any `json:"groups"`
			} `json:"spec"`
		}
		must(t, yaml.Unmarshal(mustRead(t, path), &manifest))
		groups = append(groups, manifest.Spec.Groups...)
	}
	content, err := yaml.Marshal(map[string]any{"groups": groups})
	must(t, err)
	path := filepath.Join(t.TempDir(), "rules.yaml")
	must(t, os.WriteFile(path, content, 0o600))
	return path
}

// shippedRules are all alerts, in their order.
func shippedRules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(ruleFile(t), false, model.UTF8Validation, promQL, promslog.NewNopLogger())
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var rules []rulefmt.Rule
	for _, group := range groups.Groups {
		rules = append(rules, group.Rules...)
	}
	if len(rules) == 0 {
		t.Fatal("no rules")
	}
	return rules
}

func ruleManifests(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob(root + "/config/prometheus/rules*.yaml")
	must(t, err)
	return paths
}

// The objects have no field that their types lack: the Prometheus Operator would drop it silently.
func TestManifestsAreWhatTheOperatorReads(t *testing.T) {
	for _, path := range ruleManifests(t) {
		mustDecode(t, mustRead(t, path), &monitoringv1.PrometheusRule{})
	}
	monitor := &monitoringv1.ServiceMonitor{}
	mustDecode(t, mustRead(t, root+"/config/prometheus/servicemonitor.yaml"), monitor)
	for _, endpoint := range monitor.Spec.Endpoints {
		if !endpoint.HonorLabels {
			t.Error("without honorLabels the label namespace of all series becomes the manager's")
		}
	}
	for document := range bytes.SplitSeq(mustRead(t, root+"/config/prometheus/reader.yaml"), []byte("\n---\n")) {
		kinds := map[string]any{"ClusterRoleBinding": &rbacv1.ClusterRoleBinding{}, "Role": &rbacv1.Role{}, "RoleBinding": &rbacv1.RoleBinding{}}
		for kind, object := range kinds {
			if bytes.Contains(document, []byte("\nkind: "+kind+"\n")) {
				mustDecode(t, document, object)
				delete(kinds, kind)
			}
		}
		if len(kinds) != 2 {
			t.Errorf("no kind that is known here:\n%s", document)
		}
	}
}

// An alert says what is wrong, what it means and where to read more.
func TestEveryAlertSaysWhatToDo(t *testing.T) {
	page := string(mustRead(t, root+"/docs/alerts.md"))
	for _, rule := range shippedRules(t) {
		if !strings.HasPrefix(rule.Alert, "Kyklos") {
			t.Errorf("%s: the name does not say whose alert it is", rule.Alert)
		}
		if severity := rule.Labels["severity"]; severity != "critical" && severity != "warning" {
			t.Errorf("%s: severity %q", rule.Alert, severity)
		}
		for _, annotation := range []string{"summary", "description"} {
			if rule.Annotations[annotation] == "" {
				t.Errorf("%s has no %s", rule.Alert, annotation)
			}
		}
		if got, want := rule.Annotations["runbook_url"], "docs/alerts.md#"+strings.ToLower(rule.Alert); got != want {
			t.Errorf("%s: runbook_url is %q, want %q", rule.Alert, got, want)
		}
		_, after, found := strings.Cut(page, "\n## "+rule.Alert+"\n")
		section, _, _ := strings.Cut(after, "\n## ")
		if !found || !strings.Contains(section, rule.Labels["severity"]) {
			t.Errorf("docs/alerts.md has no section %s that says %s", rule.Alert, rule.Labels["severity"])
		}
		for _, part := range []string{"**Means:**", "**Look:**", "**Do:**"} {
			if strings.Count(section, part) != 1 {
				t.Errorf("docs/alerts.md: %s has not one %s", rule.Alert, part)
			}
		}
	}
	for line := range strings.Lines(page) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "## Kyklos"); ok && !strings.Contains(string(mustRead(t, ruleFile(t))), "alert: Kyklos"+name+"\n") {
			t.Errorf("docs/alerts.md: there is no alert Kyklos%s", name)
		}
	}
}

func mustDecode(t *testing.T, content []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(content, into); err != nil {
		t.Errorf("%v in\n%s", err, content)
	}
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return content
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
