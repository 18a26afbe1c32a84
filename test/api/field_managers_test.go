package api

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/test/harness"
)

// apply is a server-side apply.
func apply(t *testing.T, manager, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	object := parse(t, text)
	raw, err := json.Marshal(object)
	harness.Must(t, err)
	_, version := versionOf(object)
	applied, err := in(version, namespace).Patch(t.Context(), object.GetName(), types.ApplyPatchType, raw, metav1.PatchOptions{FieldManager: manager})
	harness.Must(t, err)
	return applied
}

// managers returns the managed fields by field manager, without times.
func managers(t *testing.T, object *unstructured.Unstructured) map[string]any {
	t.Helper()
	owned := map[string]any{}
	for _, entry := range object.GetManagedFields() {
		if entry.FieldsV1 == nil || entry.APIVersion == "" {
			t.Errorf("got an entry without fields or version: %+v", entry)
			continue
		}
		var fields any
		harness.Must(t, json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields))
		key := entry.Manager + " " + string(entry.Operation) + " " + entry.APIVersion + " " + entry.Subresource
		if _, twice := owned[key]; twice {
			t.Errorf("%s has two entries", key)
		}
		owned[key] = fields
	}
	return owned
}

// owns reports whether a field manager's fields contain a path.
func owns(fields any, path ...string) bool {
	for _, name := range path {
		below, _ := fields.(map[string]any)
		next, ok := below["f:"+name]
		if !ok {
			return false
		}
		fields = next
	}
	return fields != nil
}

const (
	// teamApplies is v1alpha1 YAML, as from Git.
	teamApplies = `
apiVersion: kyklos.io/v1alpha1
kind: TimeWindowScaler
metadata: {name: shared, labels: {team: shop}}
spec:
  targetRef: {kind: Deployment, name: shared}
  timezone: Europe/Berlin
  windows:
  - {days: [Mon], start: "09:00", end: "17:00", replicas: 5}
`
	// platformApplies adds what only v1beta1 can express.
	platformApplies = `
apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: shared}
spec:
  baselineReplicas: 10
  defaultReplicas: 20%
`
)

// Two field managers apply one object repeatedly in two versions. Each keeps what it owns, and nothing else changes.
func TestApplyInTwoVersions(t *testing.T) {
	ns := newNamespace(t)
	apply(t, "team", ns, teamApplies)
	apply(t, "platform", ns, platformApplies)
	first := get(t, "v1beta1", ns, "shared")
	owned := managers(t, first)
	team, platform := owned["team Apply kyklos.io/v1alpha1 "], owned["platform Apply kyklos.io/v1beta1 "]
	if !owns(team, "spec", "windows") || !owns(team, "spec", "timezone") || !owns(platform, "spec", "baselineReplicas") || !owns(platform, "spec", "defaultReplicas") {
		t.Errorf("got the owners %v", owned)
	}
	if owns(team, "spec", "defaultReplicas") || owns(team, "metadata", "annotations") || owns(platform, "spec", "windows") {
		t.Errorf("got an owner of fields that it did not apply: %v", owned)
	}
	if spec(first)["defaultReplicas"] != "20%" || window(first, 0)["replicas"] != int64(5) {
		t.Errorf("got the merged spec %v", spec(first))
	}
	for range 3 {
		apply(t, "team", ns, teamApplies)
		apply(t, "platform", ns, platformApplies)
		if diff := cmp.Diff(first.Object, get(t, "v1beta1", ns, "shared").Object); diff != "" {
			t.Fatalf("applying the same again changed something (-first +again)\n%s", diff)
		}
	}
	if diff := cmp.Diff(owned, managers(t, get(t, "v1alpha1", ns, "shared"))); diff != "" {
		t.Errorf("owners as v1alpha1 shows them (-v1beta1 +v1alpha1)\n%s", diff)
	}
}

// A field that its manager no longer applies is removed, and those of the other manager stay.
func TestApplyRemovesFields(t *testing.T) {
	ns := newNamespace(t)
	apply(t, "team", ns, teamApplies)
	apply(t, "platform", ns, platformApplies)
	withGrace := teamApplies + "  gracePeriodSeconds: 60\n"
	apply(t, "team", ns, withGrace)
	if beta := get(t, "v1beta1", ns, "shared"); spec(beta)["gracePeriodSeconds"] != int64(60) || spec(beta)["defaultReplicas"] != "20%" {
		t.Errorf("with a grace period: got %v", spec(beta))
	}
	apply(t, "team", ns, teamApplies)
	if beta := get(t, "v1beta1", ns, "shared"); spec(beta)["gracePeriodSeconds"] != int64(0) || spec(beta)["baselineReplicas"] != int64(10) {
		t.Errorf("without a grace period: got %v", spec(beta))
	}
	apply(t, "platform", ns, `{apiVersion: kyklos.io/v1beta1, kind: TimeWindowScaler, metadata: {name: shared}, spec: {defaultReplicas: 3}}`)
	beta, alpha := get(t, "v1beta1", ns, "shared"), get(t, "v1alpha1", ns, "shared")
	if _, still := spec(beta)["baselineReplicas"]; still || spec(beta)["defaultReplicas"] != int64(3) || hasPayload(alpha) {
		t.Errorf("got fields that are no longer applied: %v, %v", spec(beta), alpha.GetAnnotations())
	}
}

// Updates in both versions and an apply: each is a field manager of its own, with its own version.
func TestUpdatesInTwoVersions(t *testing.T) {
	ns := newNamespace(t)
	apply(t, "team", ns, teamApplies)
	patch(t, "v1beta1", ns, "shared", types.MergePatchType, `{"spec":{"baselineReplicas":10,"defaultReplicas":"20%"}}`)
	patch(t, "v1alpha1", ns, "shared", types.MergePatchType, `{"spec":{"gracePeriodSeconds":60}}`)
	owned := managers(t, get(t, "v1beta1", ns, "shared"))
	if len(owned) < 3 {
		t.Errorf("got the owners %v", owned)
	}
	for key, fields := range owned {
		if owns(fields, "metadata", "annotations") {
			t.Errorf("%s owns annotations that it did not write: %v", key, fields)
		}
	}
	again := apply(t, "team", ns, teamApplies)
	if diff := cmp.Diff(owned, managers(t, again)); diff != "" || spec(get(t, "v1beta1", ns, "shared"))["defaultReplicas"] != "20%" {
		t.Errorf("applying the same again changed owners (-before +after)\n%s", diff)
	}
}

// A field manager that changes from v1beta1 to v1alpha1 would remove baselineReplicas and leave the percentages. The API
// server refuses that, and nothing changes. Without percentages the change works, and the other fields stay.
func TestApplyInTheOlderVersion(t *testing.T) {
	ns := newNamespace(t)
	apply(t, "team", ns, rich)
	back := `{apiVersion: kyklos.io/v1alpha1, kind: TimeWindowScaler, metadata: {name: rich}, spec: ` + strings.ReplaceAll(`{targetRef: {kind: Deployment, name: rich}, timezone: Europe/Berlin, defaultReplicas: 3, gracePeriodSeconds: 60, windows: [
		{days: [Mon, Tue], start: "09:00", end: "17:00", replicas: 15},
		{days: [Mon, Tue], start: "10:00", end: "00:00", replicas: 4},
		{days: [Sat], start: "00:00", end: "23:59", replicas: 2}]}}`, "\t", " ")
	before := get(t, "v1beta1", ns, "rich")
	raw, err := json.Marshal(parse(t, back))
	harness.Must(t, err)
	_, err = in("v1alpha1", ns).Patch(t.Context(), "rich", types.ApplyPatchType, raw, metav1.PatchOptions{FieldManager: "team"})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.baselineReplicas: Forbidden: would be lost: v1alpha1 does not have this field") {
		t.Errorf("with percentages: got %v", err)
	}
	if diff := cmp.Diff(before.Object, get(t, "v1beta1", ns, "rich").Object); diff != "" {
		t.Errorf("the refused apply changed the object (-before +after)\n%s", diff)
	}
	apply(t, "team", ns, strings.NewReplacer("  baselineReplicas: 10\n", "", "25%", "3", "150%", "15").Replace(rich))
	apply(t, "team", ns, back)
	if beta := get(t, "v1beta1", ns, "rich"); window(beta, 0)["name"] != "berlin" || window(beta, 0)["replicas"] != int64(15) || window(beta, 2)["metric"] == nil {
		t.Errorf("without percentages: got %v", spec(beta))
	}
}
