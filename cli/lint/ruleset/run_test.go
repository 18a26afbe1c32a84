package ruleset

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/cli/lint/apiserver"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/config/crd"
)

// noon is the time of all tests: no clock changes in Asia/Kolkata, and 2020 is past.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// ownServer has Kyklos's definitions, compiled once.
var ownServer = sync.OnceValues(func() (*apiserver.Server, error) { return apiserver.New(crd.Bases) })

// lintFiles returns the findings in files, as "FILE:LINE:COLUMN SEVERITY RULE FIELD: MESSAGE".
func lintFiles(t *testing.T, files []string, change func(*Options)) []string {
	t.Helper()
	server, err := ownServer()
	if err != nil {
		t.Fatal(err)
	}
	options := Options{Server: server, Now: noon}
	if change != nil {
		change(&options)
	}
	result, err := Run(t.Context(), setOf(t, files...), options)
	if err != nil {
		t.Fatal(err)
	}
	lines := append([]string(nil), result.Notes...)
	for _, f := range result.Findings {
		lines = append(lines, fmt.Sprintf("%s:%d:%d %s %s %s: %s", f.Object.File.Name, f.At.Line, f.At.Column, f.Severity, f.Rule, f.Field, f.Message))
	}
	return lines
}

// setOf reads files, which are called a.yaml, b.yaml and so on.
func setOf(t *testing.T, files ...string) *manifest.Set {
	t.Helper()
	set := &manifest.Set{}
	for i, text := range files {
		objects, problems := manifest.Parse(&manifest.File{Name: string(rune('a'+i)) + ".yaml", Data: []byte(strings.TrimPrefix(text, "\n"))})
		for _, problem := range problems {
			t.Fatal(problem)
		}
		set.Objects = append(set.Objects, objects...)
	}
	return set
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, append([]string(nil), got...)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

// scaler is a TimeWindowScaler without fault. Its lines: 5 name, 8 target's kind, 9 target's name, 10 timezone.
func scaler(name, target string, more ...string) string {
	return strings.Join(append([]string{
		"apiVersion: kyklos.io/v1beta1", "kind: TimeWindowScaler", "metadata:",
		"  namespace: shop", "  name: " + name,
		"spec:", "  targetRef:", "    kind: Deployment", "    name: " + target,
		"  timezone: Asia/Kolkata", "  defaultReplicas: 2",
		`  windows: [{days: [Mon], start: "09:00", end: "17:00", replicas: 10}]`,
	}, append(more, "")...), "\n")
}

func workload(kind, name, spec string) string {
	return fmt.Sprintf("apiVersion: apps/v1\nkind: %s\nmetadata: {namespace: shop, name: %s}\nspec:\n%s\n", kind, name, spec)
}

func autoscalerOf(name, target string) string {
	return fmt.Sprintf("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {namespace: shop, name: %s}\n"+
		"spec: {maxReplicas: 9, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %s}}\n", name, target)
}

func holidaysOf(keys string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: shop, name: days}\ndata: {" + keys + "}\n"
}

func applicationOf(ignored, option string) string {
	return fmt.Sprintf("apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {namespace: shop, name: shop}\nspec:\n"+
		"  ignoreDifferences: [{group: apps, kind: Deployment, %s}]\n  syncPolicy: {syncOptions: [%s]}\n", ignored, option)
}

const followsHolidays = "  holidays: {mode: treat-as-closed, sourceRef: {name: days}}"

// sharedBy is the webhook's warning for the second scaler of web.
func sharedBy(owner, place string) string {
	return fmt.Sprintf(`Duplicate value: "web": TimeWindowScaler %q already scales Deployment "web", and a workload can have only one: add the windows to it, or delete it first%s`, owner, place)
}

func TestSetsOfManifests(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files []string
		want  []string
	}{
		"nothing to say":                      {files: []string{scaler("office", "web")}},
		"what is in no manifest may be there": {files: []string{scaler("office", "web", followsHolidays)}},
		"two scalers of one target": {
			files: []string{scaler("office", "web"), scaler("night", "web")},
			want:  []string{"b.yaml:9:11 error target-shared spec.targetRef.name: " + sharedBy("office", " (a.yaml:5)")},
		},
		"the first of three is named": {
			files: []string{scaler("zoo", "web"), scaler("office", "web"), scaler("night", "web")},
			want: []string{
				"b.yaml:9:11 error target-shared spec.targetRef.name: " + sharedBy("zoo", " (a.yaml:5)"),
				"c.yaml:9:11 error target-shared spec.targetRef.name: " + sharedBy("zoo", " (a.yaml:5)"),
			},
		},
		"targets of one name in two namespaces": {
			files: []string{scaler("office", "web"), strings.Replace(scaler("night", "web"), "shop", "stock", 1)},
		},
		"targets of one name and two kinds": {
			files: []string{scaler("office", "web"), strings.Replace(scaler("night", "web"), "kind: Deployment", "kind: StatefulSet", 1)},
		},
		"an autoscaler of the target, after it": {
			files: []string{scaler("office", "web"), autoscalerOf("cpu", "web"), autoscalerOf("other", "api")},
			want: []string{`a.yaml:9:11 warning target-autoscaled spec.targetRef.name: HorizontalPodAutoscaler "cpu" also scales Deployment "web": ` +
				`each overwrites what the other sets; keep only one of them, or let them take turns with driftPolicy: UntilBoundary (b.yaml:3)`},
		},
		"a ScaledObject of the target, by its defaults": {
			files: []string{scaler("office", "web"), "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {namespace: shop, name: queue}\nspec: {scaleTargetRef: {name: web}}\n"},
			want: []string{`a.yaml:9:11 warning target-autoscaled spec.targetRef.name: ScaledObject "queue" also scales Deployment "web": ` +
				`KEDA and Kyklos overwrite what the other sets; keep only one of them, or let them take turns with driftPolicy: UntilBoundary (b.yaml:3)`},
		},
		"a ScaledObject of another kind of target": {
			files: []string{scaler("office", "web"), "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {namespace: shop, name: queue}\nspec: {scaleTargetRef: {kind: StatefulSet, name: web}}\n"},
		},
		"a target with replicas": {
			files: []string{workload("Deployment", "web", "  template: {}\n  replicas: 3"), scaler("office", "web")},
			want: []string{`a.yaml:6:13 warning target-sets-replicas spec.replicas: TimeWindowScaler "office" (b.yaml:5) scales this Deployment: ` +
				`applying this manifest with kubectl or Argo CD resets it to 3; remove the field (see docs/gitops.md)`},
		},
		"a target without, and others with replicas": {
			files: []string{workload("Deployment", "web", "  paused: false"), workload("StatefulSet", "web", "  replicas: 3"), workload("Deployment", "api", "  replicas: 3"), scaler("office", "web")},
		},
		"an empty count is none": {files: []string{workload("Deployment", "web", "  replicas:"), scaler("office", "web")}},
		"an Application that does not respect what it ignores": {
			files: []string{scaler("office", "web"), applicationOf("jsonPointers: [/spec/replicas]", "CreateNamespace=true")},
			want: []string{"b.yaml:6:16 warning argocd-replicas spec.syncPolicy.syncOptions: replicas are ignored when Argo CD compares, " +
				"but reset when it syncs for another reason: add RespectIgnoreDifferences=true (see docs/gitops.md)"},
		},
		"one that goes by Kyklos's name alone": {
			files: []string{applicationOf("managedFieldsManagers: [kyklos-controller]", "RespectIgnoreDifferences=true")},
			want: []string{"a.yaml:5:55 warning argocd-replicas spec.ignoreDifferences[0].managedFieldsManagers: " +
				"removing replicas from Git scales the workload to 1: use jsonPointers with /spec/replicas instead (see docs/gitops.md)"},
		},
		"one that is right":              {files: []string{scaler("office", "web"), applicationOf("jsonPointers: [/spec/replicas]", "RespectIgnoreDifferences=true")}},
		"one that applies on the server": {files: []string{applicationOf("managedFieldsManagers: [kyklos-controller]", "RespectIgnoreDifferences=true, ServerSideApply=true")}},
		"one that ignores for another":   {files: []string{applicationOf("jsonPointers: [/spec/replicas]", "CreateNamespace=true")}},
		"holidays that are no dates, and past": {
			files: []string{scaler("office", "web", followsHolidays), holidaysOf("2020-01-01: , 25.12.2026: ")},
			want: []string{
				`a.yaml:13:55 warning holidays spec.holidays.sourceRef.name: ConfigMap "days" has keys that are not dates and are ignored: 25.12.2026; use dates such as 2026-12-25 (b.yaml:3)`,
				`a.yaml:13:55 warning holidays spec.holidays.sourceRef.name: the last holiday in ConfigMap "days", 2020-01-01, is in the past: add upcoming holidays (b.yaml:3)`,
			},
		},
		"holidays to come, with a value that is no text": {
			files: []string{scaler("office", "web", followsHolidays), holidaysOf("2020-01-01: ") + "binaryData: {2026-12-25: AAEC}\n"},
		},
		"holidays to come": {files: []string{scaler("office", "web", followsHolidays), holidaysOf("2026-12-25: true")}},
		"the same object twice": {
			files: []string{scaler("office", "web"), scaler("office", "web")},
			want:  []string{"a.yaml:5:9 warning duplicate-object metadata.name: the same object is also at b.yaml:5: the one that is applied last counts"},
		},
		"the same object in both versions": {
			files: []string{scaler("office", "web"), strings.Replace(scaler("office", "web"), "v1beta1", "v1alpha1", 1)},
			want:  []string{"a.yaml:5:9 warning duplicate-object metadata.name: the same object is also at b.yaml:5 as v1alpha1: the one that is applied last counts", deprecated("b.yaml")},
		},
		"holidays twice, and other ConfigMaps": {
			files: []string{scaler("office", "web", followsHolidays), holidaysOf("2026-12-25: "), holidaysOf("2027-12-25: "),
				strings.Replace(holidaysOf("a: b"), "days", "settings", 1), strings.Replace(holidaysOf("a: b"), "days", "settings", 1)},
			want: []string{
				"b.yaml:3:35 warning duplicate-object metadata.name: the same object is also at c.yaml:3: the one that is applied last counts",
				"d.yaml:3:35 warning duplicate-object metadata.name: the same object is also at e.yaml:3: the one that is applied last counts",
			},
		},
		"one name in two kinds, and in two namespaces": {
			files: []string{workload("Deployment", "web", "  paused: false"), workload("StatefulSet", "web", "  paused: false"), holidaysOf("a: b"),
				strings.Replace(holidaysOf("a: b"), "shop", "stock", 1)},
		},
		"names that are to be generated are different": {
			files: []string{strings.Replace(scaler("web-", "web"), "  name:", "  generateName:", 1), strings.Replace(scaler("web-", "api"), "  name:", "  generateName:", 1)},
		},
		"a mistake, without further messages of Kyklos": {
			files: []string{strings.Replace(scaler("office", "web"), "Asia/Kolkata", "EST\n  pausd: true", 1)},
			want:  []string{"a.yaml:11:3 error unknown-field spec.pausd: unknown field"},
		},
		"a warning of Kyklos's": {
			files: []string{strings.Replace(scaler("office", "web"), "Asia/Kolkata", "Asia/Calcutta", 1)},
			want:  []string{"a.yaml:10:13 warning warned spec.timezone: Asia/Calcutta is a deprecated name: use Asia/Kolkata"},
		},
		"a kind of the group that there is not": {
			files: []string{"apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScalar\nmetadata: {name: a}\n"},
			want:  []string{"a.yaml:2:7 error invalid kind: kyklos.io has no kind TimeWindowScalar: use TimeWindowScaler or Workspace"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, lintFiles(t, tc.files, nil), tc.want...)
		})
	}
}

// What the set has not, no cluster was asked for; but a manifest that names no namespace goes anywhere.
func TestNamespaceOfManifests(t *testing.T) {
	t.Parallel()
	elsewhere := strings.Replace(scaler("office", "web"), "  namespace: shop\n", "", 1)
	elsewhere = strings.Replace(elsewhere, "    name: web", "    name: web\n    namespace: stock", 1)
	same(t, lintFiles(t, []string{elsewhere}, nil))
	same(t, lintFiles(t, []string{elsewhere}, func(o *Options) { o.Namespace = "stock" }))
	same(t, lintFiles(t, []string{elsewhere}, func(o *Options) { o.Namespace = "shop" }),
		`a.yaml:9:16 error refused spec.targetRef.namespace: Invalid value: "stock": must be "shop", the namespace of this TimeWindowScaler, or left out: workloads of other namespaces cannot be scaled`)
	unnamed := strings.Replace(scaler("night", "web"), "  namespace: shop\n", "", 1)
	same(t, lintFiles(t, []string{scaler("office", "web"), unnamed}, nil))
	same(t, lintFiles(t, []string{scaler("office", "web"), unnamed}, func(o *Options) { o.Namespace = "shop" }),
		"b.yaml:8:11 error target-shared spec.targetRef.name: "+sharedBy("office", " (a.yaml:5)"))
}
