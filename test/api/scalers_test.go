package api

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/webhooks/conversion"
)

// plain uses only fields of v1alpha1.
const plain = `
apiVersion: kyklos.io/v1alpha1
kind: TimeWindowScaler
metadata: {name: plain, labels: {team: shop}, annotations: {note: "50%"}}
spec:
  targetRef: {kind: Deployment, name: plain}
  timezone: Europe/Berlin
  defaultReplicas: 1
  windows:
  - {days: [Mon, Tue], start: "09:00", end: "17:00", replicas: 5}
  holidays: {mode: ignore}
`

// rich uses everything that v1beta1 adds.
const rich = `
apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: rich}
spec:
  targetRef: {kind: Deployment, name: rich}
  timezone: Europe/Berlin
  baselineReplicas: 10
  defaultReplicas: 25%
  gracePeriodSeconds: 60
  windows:
  - {name: berlin, days: [Mon, Tue], start: "09:00", end: "17:00", replicas: 150%}
  - {name: new-york, days: [Mon, Tue], start: "10:00", end: "24:00", timezone: America/New_York, replicas: 4}
  - days: [Sat]
    start: "00:00"
    end: "24:00"
    replicas: 2
    metric: {name: queue, target: {type: AverageValue, averageValue: "0.50"}, maxReplicas: 9}
`

// shownOfRich is the v1alpha1 view of rich's spec, with defaults.
const shownOfRich = `
targetRef: {apiVersion: apps/v1, kind: Deployment, name: rich}
timezone: Europe/Berlin
defaultReplicas: 3
gracePeriodSeconds: 60
pause: false
windows:
- {days: [Mon, Tue], start: "09:00", end: "17:00", replicas: 15}
- {days: [Mon, Tue], start: "10:00", end: "00:00", replicas: 4}
- {days: [Sat], start: "00:00", end: "23:59", replicas: 2}
`

func parse(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	harness.Must(t, err)
	object := &unstructured.Unstructured{}
	harness.Must(t, json.Unmarshal(raw, &object.Object)) // this Unmarshal makes integers int64
	return object
}

func create(t *testing.T, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, text)
	_, version := versionOf(object)
	created, err := in(version, namespace).Create(t.Context(), object, metav1.CreateOptions{})
	harness.Must(t, err)
	return created
}

func get(t *testing.T, version, namespace, name string) *unstructured.Unstructured {
	t.Helper()
	object, err := in(version, namespace).Get(t.Context(), name, metav1.GetOptions{})
	harness.Must(t, err)
	return object
}

func patch(t *testing.T, version, namespace, name string, kind types.PatchType, text string) *unstructured.Unstructured {
	t.Helper()
	object, err := in(version, namespace).Patch(t.Context(), name, kind, []byte(text), metav1.PatchOptions{})
	harness.Must(t, err)
	return object
}

func versionOf(object *unstructured.Unstructured) (group, version string) {
	gv := object.GroupVersionKind().GroupVersion()
	return gv.Group, gv.Version
}

// spec returns an object's spec. Edits of it change the object.
func spec(object *unstructured.Unstructured) map[string]any {
	return object.Object["spec"].(map[string]any)
}

func window(object *unstructured.Unstructured, i int) map[string]any {
	return spec(object)["windows"].([]any)[i].(map[string]any)
}

// hasPayload reports whether the object carries the annotation.
func hasPayload(object *unstructured.Unstructured) bool {
	return object.GetAnnotations()[conversion.Annotation] != ""
}
