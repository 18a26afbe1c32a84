package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
)

const (
	manager   = "Deployment kyklos-system/kyklos-manager"
	container = "{.spec.template.spec.containers[0]"
	digest    = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// choices are values and their effect: the text of a field of an object.
var choices = []struct{ set, object, path, want string }{
	{"image.repository=registry.example.com/kyklos,image.tag=v1.2.3", manager, container + ".image}", "registry.example.com/kyklos:v1.2.3"},
	{"image.digest=" + digest, manager, container + ".image}", "kyklos@" + digest},
	{"image.pullPolicy=Never", manager, container + ".imagePullPolicy}", "Never"},
	{"imagePullSecrets[0].name=registry", manager, "{.spec.template.spec.imagePullSecrets}", `[{"name":"registry"}]`},
	{"replicas=3", manager, "{.spec.replicas}", "3"},
	{"replicas=0", manager, "{.spec.replicas}", "0"},
	{"namespaces={shop,team-a}", manager, container + ".args[2]}", "--namespaces=shop,team-a"},
	{"monitoring.enabled=true,monitoring.serviceAccount.name=p,monitoring.serviceAccount.namespace=m", "RoleBinding kyklos-system/kyklos-metrics-discovery", "{.subjects}", `[{"kind":"ServiceAccount","name":"p","namespace":"m"}]`},
	{"monitoring.enabled=true,monitoring.serviceAccount.name=p,monitoring.serviceAccount.namespace=m", "ClusterRoleBinding /kyklos-metrics-reader", "{.subjects}", `[{"kind":"ServiceAccount","name":"p","namespace":"m"}]`},
	{"args={--log-level=debug,--webhook-names=a\\,b}", manager, container + ".args[2:]}", "--log-level=debug --webhook-names=a,b"},
	{"checkRequester=false", manager, container + ".args[2]}", "--check-requester=false"},
	{"checkRequester=true", manager, container + ".args[1:]}", "--webhook-cert-dir=/etc/kyklos/webhook-cert"},
	{"certificates.mode=self-managed", manager, container + ".args}", `["manager"]`},
	{"workspaces.enabled=false", manager, container + ".args[2]}", "--workspaces=false"},
	{"workspaces.archiveEndpoints={*.example.com,10.1.0.0/16}", manager, container + ".args[2]}", "--archive-endpoints=*.example.com,10.1.0.0/16"},
	{"workspaces.namespaces={team,art}", manager, container + ".args[2]}", "--workspace-namespaces=team,art"},
	{"crds.keep=false", "CustomResourceDefinition /timewindowscalers.kyklos.io", `{.metadata.annotations.helm\.sh/resource-policy}`, ""},
	{"resources.limits.memory=1Gi", manager, container + ".resources.limits.memory}", "1Gi"},
	{"resources.requests.cpu=1", manager, container + ".resources.requests}", `{"cpu":1,"memory":"128Mi"}`},
	{"goMemoryLimit=900MiB", manager, container + `.env[?(@.name=="GOMEMLIMIT")].value}`, "900MiB"},
	{"nodeSelector.disk=ssd", manager, "{.spec.template.spec.nodeSelector}", `{"disk":"ssd"}`},
	{"tolerations[0].operator=Exists", manager, "{.spec.template.spec.tolerations}", `[{"operator":"Exists"}]`},
	{"affinity.nodeAffinity.x=y", manager, "{.spec.template.spec.affinity}", `{"nodeAffinity":{"x":"y"}}`},
	{"priorityClassName=system-cluster-critical", manager, "{.spec.template.spec.priorityClassName}", "system-cluster-critical"},
	{"priorityClassName=", manager, "{.spec.template.spec.priorityClassName}", ""},
	{"priorityClassName=yes", manager, "{.spec.template.spec.priorityClassName}", "yes"},
	{"monitoring.enabled=true,monitoring.serviceAccount.name=on", "ClusterRoleBinding /kyklos-metrics-reader", "{.subjects[0].name}", "on"},
	{"labels.team=platform", manager, "{.metadata.labels.team}", "platform"},
	{"labels.team=platform", "Service kyklos-system/kyklos-webhook", "{.metadata.labels.team}", "platform"},
	{"labels.team=platform", manager, "{.spec.selector.matchLabels}", `{"app.kubernetes.io/name":"kyklos"}`},
	{"podLabels.team=platform", manager, "{.spec.template.metadata.labels.team}", "platform"},
	{"podAnnotations.team=platform", manager, "{.spec.template.metadata.annotations}", `{"team":"platform"}`},
	{"serviceAccount.annotations.team=platform", "ServiceAccount kyklos-system/kyklos-manager", "{.metadata.annotations}", `{"team":"platform"}`},
}

func TestValues(t *testing.T) {
	for _, c := range choices {
		t.Run(c.set, func(t *testing.T) {
			object := template(t, "kyklos", "kyklos-system", "--set", c.set)[c.object]
			if object == nil {
				t.Fatalf("there is no %s", c.object)
			}
			path := jsonpath.New("field").AllowMissingKeys(true)
			harness.Must(t, path.Parse(c.path))
			var got strings.Builder
			harness.Must(t, path.Execute(&got, object.Object))
			if got.String() != c.want {
				t.Errorf("%s of %s is %q, want %q", c.path, c.object, got.String(), c.want)
			}
		})
	}
}

// refused are values that the schema refuses, and its messages.
var refused = []struct{ set, says string }{
	{"replica=3", "at '': additional properties 'replica' not allowed"},
	{"replicas=-1", "at '/replicas': minimum: got -1, want 0"},
	{"replicas=two", "at '/replicas': got string, want integer"},
	{"image.name=kyklos", "at '/image': additional properties 'name' not allowed"},
	{"image.repository=", "at '/image/repository': minLength: got 0, want 1"},
	{"image.tag=a/b", "at '/image/tag': 'a/b' does not match pattern"},
	{"image.digest=0123", "at '/image/digest': '0123' does not match pattern '^(sha256:[0-9a-f]{64})?$'"},
	{"image.pullPolicy=Sometimes", "at '/image/pullPolicy': value must be one of '', 'Always', 'IfNotPresent', 'Never'"},
	{"imagePullSecrets={registry}", "at '/imagePullSecrets/0': got string, want object"},
	{"imagePullSecrets[0].secret=a", "at '/imagePullSecrets/0': missing property 'name'"},
	{"namespaces=shop", "at '/namespaces': got string, want array"},
	{"namespaces={Shop}", "at '/namespaces/0': 'Shop' does not match pattern"},
	{"namespaces={a,a}", "at '/namespaces': items at 0 and 1 are equal"},
	{"checkRequester=maybe", "at '/checkRequester': got string, want boolean"},
	{"args={log-level=debug}", "at '/args/0': 'log-level=debug' does not match pattern '^--[a-z]"},
	{"certificates.mode=manual", "at '/certificates/mode': value must be one of 'cert-manager', 'self-managed'"},
	{"certificates.days=3", "at '/certificates': additional properties 'days' not allowed"},
	{"workspaces.enabled=maybe", "at '/workspaces/enabled': got string, want boolean"},
	{"workspaces.archiveEndpoints={https://s3.example.com}", "at '/workspaces/archiveEndpoints/0': 'https://s3.example.com' does not match pattern"},
	{"workspaces.namespaces={Team}", "at '/workspaces/namespaces/0': 'Team' does not match pattern"},
	{"workspaces.namespace=team", "at '/workspaces': additional properties 'namespace' not allowed"},
	{"crds.install=maybe", "at '/crds/install': got string, want boolean"},
	{"crds.keep=maybe", "at '/crds/keep': got string, want boolean"},
	{"crds.upgrade=true", "at '/crds': additional properties 'upgrade' not allowed"},
	{"monitoring.enabled=maybe", "at '/monitoring/enabled': got string, want boolean"},
	{"monitoring.serviceAccount.name=1", "at '/monitoring/serviceAccount/name': got number, want string"},
	{"monitoring.grafana=true", "at '/monitoring': additional properties 'grafana' not allowed"},
	{"resources=none", "at '/resources': got string, want object"},
	{"goMemoryLimit=460Mi", "at '/goMemoryLimit': '460Mi' does not match pattern '^[0-9]+(B|KiB|MiB|GiB|TiB)?$'"},
	{"nodeSelector.disk=true", "at '/nodeSelector/disk': got boolean, want string"},
	{"tolerations={all}", "at '/tolerations/0': got string, want object"},
	{"affinity=zone", "at '/affinity': got string, want object"},
	{"priorityClassName=1", "at '/priorityClassName': got number, want string"},
	{"labels.team=1", "at '/labels/team': got number, want string"},
	{"labels.app\\.kubernetes\\.io/name=mine", "at '/labels/app.kubernetes.io~1name': false schema"},
	{"podLabels.app\\.kubernetes\\.io/name=mine", "at '/podLabels/app.kubernetes.io~1name': false schema"},
	{"podAnnotations.team=1", "at '/podAnnotations/team': got number, want string"},
	{"serviceAccount.name=mine", "at '/serviceAccount': additional properties 'name' not allowed"},
	{"serviceAccount.annotations.team=1", "at '/serviceAccount/annotations/team': got number, want string"},
}

func TestRefusedValues(t *testing.T) {
	chart := filepath.Join(harness.RootFor(t), "config", "chart")
	for _, c := range refused {
		t.Run(c.set, func(t *testing.T) {
			_, err := helm(t, os.DevNull, "template", "kyklos", chart, "--set", c.set)
			if err == nil || !strings.Contains(err.Error(), "- "+c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
		})
	}
}

// The chart refuses values that conflict, with its own messages.
func TestValuesTogether(t *testing.T) {
	chart := filepath.Join(harness.RootFor(t), "config", "chart")
	for set, says := range map[string]string{
		"namespaces={shop},certificates.mode=self-managed":     "namespaces: needs certificates.mode=cert-manager, because",
		"namespaces={shop},monitoring.enabled=true":            "namespaces: needs monitoring.enabled=false, because",
		"namespaces={shop},workspaces.namespaces={lab}":        "workspaces.namespaces: lab must also be in namespaces",
		"workspaces.enabled=false,workspaces.namespaces={lab}": "workspaces.namespaces: needs workspaces.enabled=true",
	} {
		if _, err := helm(t, os.DevNull, "template", "kyklos", chart, "--set", set); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: got %v, want %q", set, err, says)
		}
	}
}

// The tests above set every value, and have it refused.
func TestEveryValueIsTested(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(harness.RootFor(t), "config", "chart", "values.yaml"))
	harness.Must(t, err)
	var values map[string]any
	harness.Must(t, yaml.Unmarshal(content, &values))
	tested := func(value string, sets []string) bool {
		return slices.ContainsFunc(sets, func(set string) bool {
			return strings.HasPrefix(set, value) && strings.ContainsRune("=.[", rune(set[len(value)]))
		})
	}
	var chosen, denied []string
	for _, c := range choices {
		chosen = append(chosen, c.set)
	}
	for _, c := range refused {
		denied = append(denied, c.set)
	}
	for value := range values {
		if !tested(value, chosen) || !tested(value, denied) {
			t.Errorf("%s is chosen: %t, refused: %t", value, tested(value, chosen), tested(value, denied))
		}
	}
}
