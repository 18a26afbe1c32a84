package target

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// A start by somebody other than a schedule is known by the managed fields (W96).
func TestWhoStartedAWorkspace(t *testing.T) {
	at := func(minute int) *metav1.Time {
		return ptr.To(metav1.NewTime(time.Date(2026, 3, 2, 9, minute, 0, 0, time.UTC)))
	}
	entry := func(manager string, at *metav1.Time, fields string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Time: at, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	const desired, image = `{"f:spec":{"f:desiredState":{}}}`, `{"f:spec":{"f:image":{}}}`
	for name, tc := range map[string]struct {
		state  v1alpha1.DesiredState
		fields []metav1.ManagedFieldsEntry
		want   *metav1.Time
	}{
		"a person":                   {"RUNNING", []metav1.ManagedFieldsEntry{entry("kubectl", at(1), desired), entry("helm", at(2), image)}, at(1)},
		"two of them":                {"RUNNING", []metav1.ManagedFieldsEntry{entry("argocd", at(1), desired), entry("kubectl", at(2), desired)}, at(2)},
		"a schedule":                 {"RUNNING", []metav1.ManagedFieldsEntry{entry("kyklos-schedule", at(1), desired)}, nil},
		"a schedule, and a pipeline": {"RUNNING", []metav1.ManagedFieldsEntry{entry("argocd", at(2), desired), entry("kyklos-schedule", at(1), desired)}, nil},
		"it is stopped":              {"STANDBY", []metav1.ManagedFieldsEntry{entry("kubectl", at(1), desired)}, nil},
		"nobody says so":             {"RUNNING", nil, nil},
		"nobody says when":           {"RUNNING", []metav1.ManagedFieldsEntry{entry("kubectl", nil, desired)}, nil},
	} {
		ws := &v1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{ManagedFields: tc.fields}, Spec: v1alpha1.WorkspaceSpec{DesiredState: tc.state}}
		if got := startedByOthers(ws); !got.Equal(ptr.Deref(tc.want, metav1.Time{}).Time) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestWorkspaceTarget(t *testing.T) {
	object := func(desired v1alpha1.DesiredState, phase v1alpha1.Phase, ready metav1.ConditionStatus, observed int64) *v1alpha1.Workspace {
		return &v1alpha1.Workspace{
			ObjectMeta: metav1.ObjectMeta{UID: types.UID("w-1"), ResourceVersion: "7", Generation: 2},
			Spec:       v1alpha1.WorkspaceSpec{DesiredState: desired},
			Status:     v1alpha1.WorkspaceStatus{Phase: phase, ObservedGeneration: observed, Conditions: []metav1.Condition{{Type: "Ready", Status: ready}}},
		}
	}
	for name, tc := range map[string]struct {
		ws                *v1alpha1.Workspace
		spec, observed    int32
		hasOne, hasNone   bool
		distanceFromThree int32
	}{
		"runs":                  {object("RUNNING", "RUNNING", "True", 2), 1, 1, true, false, 0},
		"starts":                {object("RUNNING", "STANDBY", "False", 2), 1, 0, false, false, 1},
		"is ready by old specs": {object("RUNNING", "STANDBY", "True", 1), 1, 0, false, false, 1},
		"stops":                 {object("STANDBY", "RUNNING", "False", 2), 0, 0, false, false, 1},
		"not yet stopping":      {object("STANDBY", "RUNNING", "True", 1), 0, 1, false, false, 0},
		"stopped":               {object("STANDBY", "STANDBY", "True", 2), 0, 0, false, true, 1},
		"archived":              {object("PENDING", "PENDING", "True", 2), 0, 0, false, true, 1},
		"new":                   {object("", "", "Unknown", 0), 0, 0, false, false, 1},
	} {
		object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(tc.ws)
		if err != nil {
			t.Fatal(err)
		}
		got, err := workspaces{}.Fetched(nil, &unstructured.Unstructured{Object: object}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.Base().Spec != tc.spec || got.Base().Observed != tc.observed || got.Has(Desired{1}) != tc.hasOne || got.Has(Desired{0}) != tc.hasNone || got.Distance(Desired{3}, false) != tc.distanceFromThree {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
