package upgrade

import (
	"errors"
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

// scenario is one cluster with a fleet and one manager after another.
type scenario struct {
	*fleet
	crds      apiextensions.CustomResourceDefinitionInterface
	clockFile harness.Clock
}

// newScenario starts a cluster with the previous release and the fleet.
func newScenario(t *testing.T, old release) *scenario {
	t.Helper()
	cluster := harness.StartFor(t, "--etcd-gateway")
	crds, err := apiextensions.NewForConfig(cluster.Config)
	harness.Must(t, err)
	j := &scenario{crds: crds.CustomResourceDefinitions(), clockFile: harness.Clock(filepath.Join(t.TempDir(), "clock")), fleet: &fleet{T: harness.NewT(t, cluster)}}
	j.Patience = patience
	j.clock("2025-01-27 08:30:00")
	j.install(old)
	j.dropRules()
	j.fleet = launch(j.T)
	j.install(old) // with its rules
	return j
}

// install applies a release's manifests for webhooks at a free port, and returns the port.
func (j *scenario) install(r release) int {
	j.Helper()
	port, err := harness.FreePort()
	j.Must(err)
	j.Must(j.Cluster.InstallFrom(j.Context(), r.config, port))
	return port
}

// run installs a release and runs its manager.
func (j *scenario) run(r release) *harness.Manager {
	j.Helper()
	return j.runAt(r, j.install(r))
}

func (j *scenario) runAt(r release, port int) *harness.Manager {
	j.Helper()
	m := j.StartManager(harness.ManagerOptions{
		WebhookPort: port, Binary: r.binary,
		Args: append([]string{"--requeue-jitter-max=0", "--log-format=text"}, r.args...),
		Env:  []string{j.clockFile.Env()},
	})
	j.AwaitReady(m)
	return m
}

// clock sets all managers' clocks, in UTC.
func (j *scenario) clock(utc string) {
	j.Helper()
	j.Must(j.clockFile.Set(utc))
}

func (j *scenario) crd() *apiextensionsv1.CustomResourceDefinition {
	j.Helper()
	crd, err := j.crds.Get(j.Context(), crdName, metav1.GetOptions{})
	j.Must(err)
	return crd
}

// dropRules removes the rule for time zones, so that an object of an older release can be stored.
func (j *scenario) dropRules() {
	j.Helper()
	crd := j.crd()
	for i := range crd.Spec.Versions {
		timezone := crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"].Properties["timezone"]
		timezone.XValidations = nil
		crd.Spec.Versions[i].Schema.OpenAPIV3Schema.Properties["spec"].Properties["timezone"] = timezone
	}
	_, err := j.crds.Update(j.Context(), crd, metav1.UpdateOptions{})
	j.Must(err)
	refused := scaler("kyklos.io/v1alpha1", "probe", map[string]any{
		"targetRef": map[string]any{"kind": "Deployment", "name": "probe"}, "timezone": "Mars/Olympus_Mons", "windows": windows("09:00", "17:00"),
	})
	refused.SetNamespace("default")
	j.Eventually("the rules removed", func() error {
		if err := j.Client.Create(j.Context(), refused.DeepCopy(), client.DryRunAll); err != nil {
			return err
		}
		return nil
	})
}

// awaitStatuses waits until every scaler has a status.
func (j *scenario) awaitStatuses() {
	j.Helper()
	j.Eventually("a status of every scaler", func() error {
		for name, s := range j.scalers("v1alpha1") {
			if _, decided, _ := unstructured.NestedInt64(s.Object, "status", "effectiveReplicas"); !decided {
				return errors.New(name + " has none")
			}
		}
		return nil
	})
}

// awaitGrace waits until the grace periods have begun.
func (j *scenario) awaitGrace() {
	j.Helper()
	j.Eventually("the grace periods", func() error {
		for name, s := range j.scalers("v1alpha1") {
			if _, runs, _ := unstructured.NestedString(s.Object, "status", "gracePeriodExpiry"); !runs && strings.HasPrefix(name, "grace-") {
				return errors.New(name + " has none")
			}
		}
		return nil
	})
}

// createFeatured creates a scaler that needs v1beta1, and returns its spec as JSON.
func (j *scenario) createFeatured() string {
	j.Helper()
	j.Must(j.Client.Create(j.Context(), target("featured", 2)))
	j.Must(j.Client.Create(j.Context(), scaler("kyklos.io/v1beta1", "featured", map[string]any{
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
	return harness.Show(j.scalers("v1beta1")["featured"].Object["spec"])
}

// stepBack runs the commands of docs/storage-migration.md that take the definition one step back: the
// first makes v1alpha1 the storage version, the second makes room for a release that converts nothing.
func (j *scenario) stepBack(number int) {
	j.Helper()
	page, err := os.ReadFile(filepath.Join(harness.RootFor(j), "docs", "storage-migration.md"))
	j.Must(err)
	_, section, _ := strings.Cut(string(page), "## One step back")
	commands := regexp.MustCompile(`(?m)^\$ kubectl (patch crd .*) -p '(.*)'$`).FindAllStringSubmatch(section, -1)
	if number >= len(commands) {
		j.Fatalf("the page has only %d commands", len(commands))
	}
	args := append(strings.Fields(commands[number][1]), "-p", commands[number][2])
	j.Kubectl("", args...)
}

// awaitStored waits for the event that every object is stored in one version, and checks the store.
// status.storedVersions alone is too early.
func (j *scenario) awaitStored(version string) {
	j.Helper()
	j.Eventually("all stored as "+version, func() error {
		var list eventsv1.EventList
		j.Must(j.Client.List(j.Context(), &list, client.InNamespace("default")))
		for _, event := range list.Items {
			if event.Reason == "StorageMigrationCompleted" && strings.HasPrefix(event.Note, "All objects are stored as "+version) {
				return nil
			}
		}
		return errors.New("there is no event")
	})
	stored, err := j.Cluster.Stored(j.Context(), "kyklos.io/timewindowscalers")
	j.Must(err)
	for name, object := range stored {
		if object.Version != version {
			j.Errorf("%s is stored as %s", name, object.Version)
		}
	}
	if got := j.crd().Status.StoredVersions; !slices.Equal(got, []string{version}) {
		j.Errorf("status.storedVersions: got %v, want %s alone", got, version)
	}
	j.Must(j.Client.DeleteAllOf(j.Context(), &eventsv1.Event{}, client.InNamespace("default")))
}

// expectUntouched checks that spec, generation and field managers did not change.
func (j *scenario) expectUntouched(before map[string]*unstructured.Unstructured) {
	j.Helper()
	j.expectSame(before, managers)
}

// expectMoved is expectUntouched after a version was removed: its field managers are those of the other one.
func (j *scenario) expectMoved(before map[string]*unstructured.Unstructured) {
	j.Helper()
	j.expectSame(before, func(object client.Object) string { return strings.ReplaceAll(managers(object), "v1beta1", "v1alpha1") })
}

func (j *scenario) expectSame(before map[string]*unstructured.Unstructured, managers func(client.Object) string) {
	j.Helper()
	after := j.scalers("v1alpha1")
	for name, was := range before {
		is := after[name]
		if is == nil {
			j.Errorf("%s is gone", name)
			continue
		}
		if harness.Show(is.Object["spec"]) != harness.Show(was.Object["spec"]) || is.GetGeneration() != was.GetGeneration() {
			j.Errorf("%s: got generation %d %s, want generation %d %s", name,
				is.GetGeneration(), harness.Show(is.Object["spec"]), was.GetGeneration(), harness.Show(was.Object["spec"]))
		}
		if got, want := managers(is), managers(was); got != want {
			j.Errorf("%s: got the field managers %s, want %s", name, got, want)
		}
	}
}

// managers returns the field managers of everything but the status.
func managers(object client.Object) string {
	var names []string
	for _, entry := range object.GetManagedFields() {
		if entry.Subresource == "" {
			names = append(names, entry.Manager+" "+entry.APIVersion+" "+entry.FieldsV1.String())
		}
	}
	return strings.Join(names, " ")
}
