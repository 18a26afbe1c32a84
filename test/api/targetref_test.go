package api

import (
	"encoding/json"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/test/harness"
)

// tryApply is apply for a request that may be refused.
func tryApply(t *testing.T, manager, namespace, text string) (*unstructured.Unstructured, error) {
	t.Helper()
	object := parse(t, text)
	raw, err := json.Marshal(object)
	harness.Must(t, err)
	_, version := versionOf(object)
	return in(version, namespace).Patch(t.Context(), object.GetName(), types.ApplyPatchType, raw, metav1.PatchOptions{FieldManager: manager})
}

// otherTargets are applied to the object of teamApplies, NAMESPACE being its own: another target, and more of the same.
var otherTargets = []string{
	"apiVersion: kyklos.io/v1alpha1\nkind: TimeWindowScaler\nmetadata: {name: shared}\nspec: {targetRef: {kind: Deployment, name: other}}\n",
	"apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScaler\nmetadata: {name: shared}\nspec: {targetRef: {kind: StatefulSet, name: shared}}\n",
	"apiVersion: kyklos.io/v1alpha1\nkind: TimeWindowScaler\nmetadata: {name: shared}\nspec: {targetRef: {kind: Deployment, name: shared, namespace: NAMESPACE}}\n",
	"apiVersion: kyklos.io/v1beta1\nkind: TimeWindowScaler\nmetadata: {name: shared}\nspec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: shared}}\n",
}

// A target is one value: two field managers cannot own parts of it, so that the kind of one is never combined with the
// name of the other.
func TestATargetHasOneOwner(t *testing.T) {
	for name, teams := range map[string]string{"v1alpha1": teamApplies, "v1beta1": strings.Replace(teamApplies, "v1alpha1", "v1beta1", 1)} {
		t.Run(name, func(t *testing.T) {
			ns := newNamespace(t)
			apply(t, "team", ns, teams)
			for _, others := range otherTargets {
				others = strings.Replace(others, "NAMESPACE", ns, 1)
				if _, err := tryApply(t, "platform", ns, others); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), ".spec.targetRef") {
					t.Errorf("got %v for\n%s", err, others)
				}
			}
			before := get(t, name, ns, "shared")
			if again := apply(t, "team", ns, teams); again.GetResourceVersion() != before.GetResourceVersion() {
				t.Error("applying the same again changed something")
			}
			moved := apply(t, "team", ns, strings.Replace(teams, "name: shared}\n  timezone", "name: moved}\n  timezone", 1))
			if ref := spec(moved)["targetRef"].(map[string]any); ref["name"] != "moved" || ref["namespace"] != ns || ref["apiVersion"] != "apps/v1" {
				t.Errorf("got the target %v", ref)
			}
		})
	}
}

// An object whose fields of the target are owned one by one, as they were before, can still be applied by its owner, and
// by no other.
func TestATargetThatWasOwnedInParts(t *testing.T) {
	ns := newNamespace(t)
	stored := apply(t, "team", ns, strings.Replace(teamApplies, "v1alpha1", "v1beta1", 1))
	fields := stored.GetManagedFields()
	for i := range fields {
		if fields[i].Manager == "team" {
			raw := strings.Replace(string(fields[i].FieldsV1.GetRawBytes()), `"f:targetRef":{}`, `"f:targetRef":{"f:kind":{},"f:name":{}}`, 1)
			fields[i].FieldsV1.SetRawBytes([]byte(raw))
		}
	}
	stored.SetManagedFields(fields)
	_, err := in("v1beta1", ns).Update(t.Context(), stored, metav1.UpdateOptions{FieldManager: "before"})
	harness.Must(t, err)
	if _, err := tryApply(t, "platform", ns, otherTargets[1]); !apierrors.IsConflict(err) {
		t.Errorf("another's target: %v", err)
	}
	moved := apply(t, "team", ns, strings.Replace(teamApplies, "name: shared}\n  timezone", "name: moved}\n  timezone", 1))
	if ref := spec(moved)["targetRef"].(map[string]any); ref["name"] != "moved" {
		t.Errorf("got the target %v", ref)
	}
}
