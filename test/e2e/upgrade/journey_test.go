package upgrade

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

const crdName = "timewindowscalers.kyklos.io"

// journey is one cluster with one manager after the other.
type journey struct {
	*fleet
	cluster   *harness.Cluster
	crds      apiextensions.CustomResourceDefinitionInterface
	clockFile harness.Clock
}

// depart starts a cluster with the previous release and the fleet.
func depart(t *testing.T, old release) *journey {
	t.Helper()
	cluster := harness.StartFor(t, "--etcd-gateway")
	crds, err := apiextensions.NewForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	admin, err := cluster.Client()
	if err != nil {
		t.Fatal(err)
	}
	j := &journey{cluster: cluster, crds: crds.CustomResourceDefinitions(), clockFile: harness.Clock(filepath.Join(t.TempDir(), "clock")), fleet: &fleet{T: t, admin: admin}}
	j.clock("2025-01-27 08:30:00")
	j.install(old)
	j.dropRules()
	j.fleet = launch(t, admin)
	j.install(old) // with its rules
	return j
}

// install applies a release's manifests for webhooks at a free port, and returns the port.
func (j *journey) install(r release) int {
	j.Helper()
	port, err := harness.FreePort()
	j.must(err)
	j.must(j.cluster.InstallFrom(j.Context(), r.config, port))
	return port
}

// run installs a release and runs its manager.
func (j *journey) run(r release) *harness.Manager {
	j.Helper()
	return j.runAt(r, j.install(r))
}

func (j *journey) runAt(r release, port int) *harness.Manager {
	j.Helper()
	log, err := os.OpenFile(filepath.Join(j.cluster.Dir, "managers.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	j.must(err)
	m, err := j.cluster.StartManager(j.Context(), harness.ManagerOptions{
		WebhookPort: port, Binary: r.binary, Log: log,
		Args: append([]string{"--requeue-jitter-max=0", "--log-format=text"}, r.args...),
		Env:  []string{j.clockFile.Env()},
	})
	j.must(err)
	j.Cleanup(func() {
		_ = m.Kill()
		_ = log.Close()
		if j.Failed() {
			content, _ := os.ReadFile(log.Name())
			j.Logf("the managers logged:\n%s", content[max(0, len(content)-8000):])
		}
	})
	j.must(m.AwaitReady(j.Context()))
	return m
}

// clock sets all managers' clocks, in UTC.
func (j *journey) clock(utc string) {
	j.Helper()
	j.must(j.clockFile.Set(utc))
}

func (j *journey) crd() *apiextensionsv1.CustomResourceDefinition {
	j.Helper()
	crd, err := j.crds.Get(j.Context(), crdName, metav1.GetOptions{})
	j.must(err)
	return crd
}

// dropRules lets in what a rule of today refuses, as an older release may have.
func (j *journey) dropRules() {
	j.Helper()
	crd := j.crd()
	for i := range crd.Spec.Versions {
		timezone := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"].Properties["timezone"]
		timezone.XValidations = nil
		crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"].Properties["timezone"] = timezone
	}
	_, err := j.crds.Update(j.Context(), crd, metav1.UpdateOptions{})
	j.must(err)
	refused := scaler("kyklos.io/v1alpha1", "probe", map[string]any{
		"targetRef": map[string]any{"kind": "Deployment", "name": "probe"}, "timezone": "Mars/Olympus_Mons", "windows": windows("09:00", "17:00"),
	})
	refused.SetNamespace("default")
	j.eventually("an object past the rules", func() string {
		if err := j.admin.Create(j.Context(), refused.DeepCopy(), client.DryRunAll); err != nil {
			return err.Error()
		}
		return ""
	})
}

// awaitStatuses waits until the manager has decided on every scaler.
func (j *journey) awaitStatuses() {
	j.Helper()
	j.eventually("a status of every scaler", func() string {
		for name, s := range j.scalers("v1alpha1") {
			if _, decided, _ := unstructured.NestedInt64(s.Object, "status", "effectiveReplicas"); !decided {
				return name + " has none"
			}
		}
		return ""
	})
}

// awaitGrace waits until the grace periods run.
func (j *journey) awaitGrace() {
	j.Helper()
	j.eventually("the grace periods", func() string {
		for name, s := range j.scalers("v1alpha1") {
			if _, runs, _ := unstructured.NestedString(s.Object, "status", "gracePeriodExpiry"); !runs && strings.HasPrefix(name, "grace-") {
				return name + " has none"
			}
		}
		return ""
	})
}

// createFeatured creates a scaler that needs v1beta1, and returns its spec as JSON.
func (j *journey) createFeatured() string {
	j.Helper()
	j.must(j.admin.Create(j.Context(), target("featured", 2)))
	j.must(j.admin.Create(j.Context(), scaler("kyklos.io/v1beta1", "featured", map[string]any{
		"targetRef":        map[string]any{"kind": "Deployment", "name": "featured"},
		"timezone":         "UTC",
		"baselineReplicas": int64(2),
		"defaultReplicas":  "50%",
		"windows": []any{
			map[string]any{"name": "India", "days": []any{"Mon"}, "start": "00:00", "end": "24:00", "timezone": "Asia/Kolkata", "replicas": "150%"},
			map[string]any{"days": []any{"Tue"}, "start": "09:00", "end": "17:00", "replicas": int64(4), "metric": map[string]any{
				"name": "queue-depth", "target": map[string]any{"type": "AverageValue", "averageValue": "0.50"}, "maxReplicas": int64(9),
			}},
		},
	})))
	return text(j.scalers("v1beta1")["featured"].Object["spec"])
}

// stepBack runs the commands of docs/storage-migration.md that take the definition one step back: the
// first makes v1alpha1 the storage version, the second makes room for a release that converts nothing.
func (j *journey) stepBack(number int) {
	j.Helper()
	page, err := os.ReadFile(filepath.Join(harness.RootFor(j.T), "docs", "storage-migration.md"))
	j.must(err)
	_, section, _ := strings.Cut(string(page), "## One step back")
	commands := regexp.MustCompile(`(?m)^\$ kubectl (patch crd .*) -p '(.*)'$`).FindAllStringSubmatch(section, -1)
	if number >= len(commands) {
		j.Fatalf("the page has only %d commands", len(commands))
	}
	args := append(strings.Fields(commands[number][1]), "-p", commands[number][2])
	_, _, err = j.cluster.Kubectl(j.Context(), "", args...)
	j.must(err)
}

// awaitStored waits for the event that says that every object is stored in one version, and holds it
// against the store. The list status.storedVersions alone says so too early.
func (j *journey) awaitStored(version string) {
	j.Helper()
	j.eventually("all stored as "+version, func() string {
		var told eventsv1.EventList
		j.must(j.admin.List(j.Context(), &told, client.InNamespace("default")))
		for _, event := range told.Items {
			if event.Reason == "StorageMigrationCompleted" && strings.HasPrefix(event.Note, "All objects are stored as "+version) {
				return ""
			}
		}
		return "no event says so"
	})
	stored, err := j.cluster.Stored(j.Context(), "kyklos.io/timewindowscalers")
	j.must(err)
	for name, object := range stored {
		if object.Version != version {
			j.Errorf("%s is stored as %s", name, object.Version)
		}
	}
	if list := j.crd().Status.StoredVersions; !slices.Equal(list, []string{version}) {
		j.Errorf("status.storedVersions is %v, want %s alone", list, version)
	}
	j.must(j.admin.DeleteAllOf(j.Context(), &eventsv1.Event{}, client.InNamespace("default")))
}

// expectUntouched holds spec, generation and the owners of spec against what they were.
func (j *journey) expectUntouched(before map[string]*unstructured.Unstructured) {
	j.Helper()
	after := j.scalers("v1alpha1")
	for name, was := range before {
		is := after[name]
		if is == nil {
			j.Errorf("%s is gone", name)
			continue
		}
		if text(is.Object["spec"]) != text(was.Object["spec"]) || is.GetGeneration() != was.GetGeneration() {
			j.Errorf("%s is now generation %d %s, was generation %d %s", name,
				is.GetGeneration(), text(is.Object["spec"]), was.GetGeneration(), text(was.Object["spec"]))
		}
		if got, want := managers(is), managers(was); got != want {
			j.Errorf("%s belongs to %s now, did to %s", name, got, want)
		}
	}
}

// managers are the owners of all but the status.
func managers(object client.Object) string {
	var names []string
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" {
			names = append(names, entry.Manager+" "+entry.FieldsV1.String())
		}
	}
	return strings.Join(names, " ")
}
