package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/test/harness"
)

// edit sends a patch in v1alpha1.
func edit(t *testing.T, namespace, name string, kind types.PatchType, text string, subresources ...string) error {
	t.Helper()
	options := metav1.PatchOptions{}
	if kind == types.ApplyPatchType {
		force := true
		options = metav1.PatchOptions{FieldManager: "team", Force: &force}
	}
	_, err := in("v1alpha1", namespace).Patch(t.Context(), name, kind, []byte(text), options, subresources...)
	return err
}

// A v1beta1 object whose annotations leave no room for what v1alpha1 lacks is shown in v1alpha1, also in lists and
// watches. No write of any kind in v1alpha1 is stored, and each is answered with the reason.
func TestObjectsWithoutRoomAreNotWritten(t *testing.T) {
	const limit = 256 << 10
	for name, size := range map[string]int{"some room for others": 262_000, "no room at all": limit - len("big")} {
		t.Run(name, func(t *testing.T) {
			ns := newNamespace(t)
			object := parse(t, rich)
			object.SetAnnotations(map[string]string{"big": strings.Repeat("x", size)})
			before, err := in("v1beta1", ns).Create(t.Context(), object, metav1.CreateOptions{})
			harness.Must(t, err)
			create(t, ns, plain)
			list, err := in("v1alpha1", ns).List(t.Context(), metav1.ListOptions{})
			if err != nil || len(list.Items) != 2 {
				t.Fatalf("the list in v1alpha1 has %d objects: %v", len(list.Items), err)
			}
			put := get(t, "v1alpha1", ns, "rich")
			spec(put)["pause"] = true
			put.SetAnnotations(nil)
			_, putting := in("v1alpha1", ns).Update(t.Context(), put, metav1.UpdateOptions{})
			for what, err := range map[string]error{
				"a label":              edit(t, ns, "rich", types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`),
				"a finalizer":          edit(t, ns, "rich", types.MergePatchType, `{"metadata":{"finalizers":["example.com/a"]}}`),
				"a status":             edit(t, ns, "rich", types.MergePatchType, `{"status":{"holiday":"2026-12-24"}}`, "status"),
				"a pause":              edit(t, ns, "rich", types.MergePatchType, `{"spec":{"pause":true}}`),
				"a smaller annotation": edit(t, ns, "rich", types.MergePatchType, `{"metadata":{"annotations":{"big":"x"}}}`),
				"a marker less":        edit(t, ns, "rich", types.MergePatchType, `{"metadata":{"annotations":{"kyklos.io/v1beta1-spec":null}}}`),
				"a PUT":                putting,
				"server-side apply":    edit(t, ns, "rich", types.ApplyPatchType, `{"apiVersion":"kyklos.io/v1alpha1","kind":"TimeWindowScaler","metadata":{"name":"rich"},"spec":{"pause":true}}`),
				"a deletion":           in("v1alpha1", ns).Delete(t.Context(), "rich", metav1.DeleteOptions{}),
			} {
				if err == nil || !strings.Contains(err.Error(), "leave no room for kyklos.io/v1beta1-spec") {
					t.Errorf("%s: got %v", what, err)
				}
			}
			if diff := cmp.Diff(before.Object, get(t, "v1beta1", ns, "rich").Object); diff != "" {
				t.Errorf("the object has changed (-before +after)\n%s", diff)
			}
			patch(t, "v1beta1", ns, "rich", types.MergePatchType, `{"metadata":{"annotations":{"big":"x"}}}`)
			harness.Until(t, "an edit with room again", func() bool { // the API server may still have the old object in its cache
				return edit(t, ns, "rich", types.MergePatchType, `{"spec":{"pause":true}}`) == nil
			})
			if after := get(t, "v1beta1", ns, "rich"); spec(after)["pause"] != true || window(after, 0)["replicas"] != "150%" {
				t.Errorf("with room again: got %v", spec(after))
			}
		})
	}
}

// An object can be restored from what was read in v1alpha1.
func TestRestoreThroughV1alpha1(t *testing.T) {
	ns := newNamespace(t)
	before := create(t, ns, rich)
	backup := get(t, "v1alpha1", ns, "rich")
	harness.Must(t, in("v1beta1", ns).Delete(t.Context(), "rich", metav1.DeleteOptions{}))
	backup.SetResourceVersion("")
	backup.SetUID("")
	_, err := in("v1alpha1", ns).Create(t.Context(), backup, metav1.CreateOptions{})
	harness.Must(t, err)
	if diff := cmp.Diff(spec(before), spec(get(t, "v1beta1", ns, "rich"))); diff != "" {
		t.Errorf("(-before +restored)\n%s", diff)
	}
}

// A window that is moved and edited in one patch keeps what v1alpha1 does not show. What nobody can tell is refused.
func TestWindowsAreNotMistaken(t *testing.T) {
	const first, second, third = `{"days":["Mon","Tue"],"start":"09:00","end":"17:00","replicas":15}`, `{"days":["Mon","Tue"],"start":"10:00","end":"00:00","replicas":4}`, `{"days":["Sat"],"start":"00:00","end":"23:59","replicas":2}`
	for name, tc := range map[string]struct {
		windows []string
		names   string // of the windows in v1beta1, "" if the patch is refused
	}{
		"moved and edited":     {[]string{second, third, strings.Replace(first, "09:00", "08:00", 1)}, "new-york,,berlin"},
		"two moved and edited": {[]string{third, strings.Replace(second, "10:00", "11:00", 1), strings.Replace(first, "09:00", "08:00", 1)}, ",new-york,berlin"},
		"another in its place": {[]string{`{"days":["Sun"],"start":"01:00","end":"02:00","replicas":7}`, second, third}, ""},
		"one deleted":          {[]string{second, third}, "new-york,"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := newNamespace(t)
			create(t, ns, rich)
			err := edit(t, ns, "rich", types.MergePatchType, `{"spec":{"windows":[`+strings.Join(tc.windows, ",")+`]}}`)
			if tc.names == "" {
				if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `it is not clear what became of window "berlin"`) {
					t.Errorf("got %v", err)
				}
				return
			}
			harness.Must(t, err)
			after := get(t, "v1beta1", ns, "rich")
			var names []string
			for i := range tc.windows {
				own, _ := window(after, i)["name"].(string)
				names = append(names, own)
			}
			if got := strings.Join(names, ","); got != tc.names || window(after, len(tc.windows)-1)["timezone"] != nil {
				t.Errorf("got the windows %q: %v", got, spec(after)["windows"])
			}
		})
	}
	ns := newNamespace(t)
	object := parse(t, rich)
	alike := []any{}
	for _, name := range []string{"a", "b", "c"} {
		alike = append(alike, map[string]any{"name": name, "days": []any{"Mon"}, "start": "09:00", "end": "17:00", "replicas": int64(5)})
	}
	spec(object)["windows"] = alike
	_, err := in("v1beta1", ns).Create(t.Context(), object, metav1.CreateOptions{})
	harness.Must(t, err)
	err = edit(t, ns, "rich", types.JSONPatchType, `[{"op":"remove","path":"/spec/windows/0"}]`)
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `spec.windows[0]: Forbidden: it is not clear what became of window "a"`) {
		t.Errorf("the first of three that look alike deleted: got %v", err)
	}
}

// An edit through v1alpha1 that leaves an object invalid in v1beta1 is refused, with what is in the way.
func TestEditsAreJudgedAsV1beta1(t *testing.T) {
	ns := newNamespace(t)
	object := parse(t, rich)
	spec(object)["targetRef"] = map[string]any{"apiVersion": "kyklos.io/v1alpha1", "kind": "Workspace", "name": "dev"}
	spec(object)["workspace"] = map[string]any{"keepArchived": true}
	delete(window(object, 2), "metric")
	_, err := in("v1beta1", ns).Create(t.Context(), object, metav1.CreateOptions{})
	harness.Must(t, err)
	err = edit(t, ns, "rich", types.MergePatchType, `{"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment"}}}`)
	const want = "spec.workspace: Forbidden: must not be set unless the target is a Workspace of kyklos.io/v1alpha1; change it in kyklos.io/v1beta1, in which the object is stored"
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("from a Workspace to a Deployment: got %v", err)
	}
	patch(t, "v1beta1", ns, "rich", types.MergePatchType, `{"spec":{"targetRef":{"apiVersion":"apps/v1","kind":"Deployment"},"workspace":null}}`)
	harness.Must(t, edit(t, ns, "rich", types.MergePatchType, `{"spec":{"pause":true}}`))
}

var mutating = schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "mutatingwebhookconfigurations"}

// switchDefaulting switches the defaulting webhook off or on, and waits until the API server has noticed.
func switchDefaulting(t *testing.T, on bool) {
	t.Helper()
	operations := map[bool]string{true: `["CREATE","UPDATE"]`, false: `["CONNECT"]`}[on]
	text := `[{"op":"replace","path":"/webhooks/0/rules/0/operations","value":` + operations + `}]`
	_, err := objects.Resource(mutating).Patch(t.Context(), "kyklos-webhook", types.JSONPatchType, []byte(text), metav1.PatchOptions{})
	harness.Must(t, err)
	ns := newNamespace(t)
	harness.Until(t, fmt.Sprintf("defaulting on: %t", on), func() bool {
		created, err := in("v1beta1", ns).Create(t.Context(), parse(t, rich), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		harness.Must(t, err)
		_, filled := spec(created)["targetRef"].(map[string]any)["namespace"]
		return filled == on
	})
}

// An object that was stored without defaults, while the webhooks were away, can be edited: its target, which v1alpha1
// does not support, stays as it is.
func TestDefaultsDoNotChangeTheTarget(t *testing.T) {
	ns := newNamespace(t)
	object := parse(t, rich)
	spec(object)["targetRef"].(map[string]any)["kind"] = "StatefulSet"
	switchDefaulting(t, false)
	_, err := in("v1beta1", ns).Create(t.Context(), object, metav1.CreateOptions{})
	switchDefaulting(t, true)
	harness.Must(t, err)
	harness.Must(t, edit(t, ns, "rich", types.MergePatchType, `{"spec":{"pause":true}}`))
	if after := get(t, "v1beta1", ns, "rich"); spec(after)["pause"] != true || spec(after)["targetRef"].(map[string]any)["namespace"] != nil {
		t.Errorf("got %v", spec(after))
	}
}
