package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/webhooks/conversion"
)

// An object created in one version keeps its spec in both, and v1alpha1 shows what it can of the rest.
func TestCreateInEitherVersion(t *testing.T) {
	ns := newNamespace(t)
	created := create(t, ns, plain)
	alpha, beta := get(t, "v1alpha1", ns, "plain"), get(t, "v1beta1", ns, "plain")
	if diff := cmp.Diff(created.Object, alpha.Object); diff != "" {
		t.Errorf("v1alpha1 differs from what was created (-created +read)\n%s", diff)
	}
	if diff := cmp.Diff(spec(alpha), spec(beta)); diff != "" || hasPayload(alpha) {
		t.Errorf("the versions differ (-v1alpha1 +v1beta1)\n%s", diff)
	}
	alpha.SetAPIVersion("kyklos.io/v1beta1")
	if diff := cmp.Diff(alpha.Object["metadata"], beta.Object["metadata"]); diff != "" {
		t.Errorf("metadata (-v1alpha1 +v1beta1)\n%s", diff)
	}

	created = create(t, ns, rich)
	alpha, beta = get(t, "v1alpha1", ns, "rich"), get(t, "v1beta1", ns, "rich")
	if diff := cmp.Diff(created.Object, beta.Object); diff != "" || hasPayload(beta) {
		t.Errorf("v1beta1 differs from what was created (-created +read)\n%s", diff)
	}
	shown := parse(t, shownOfRich).Object
	shown["targetRef"].(map[string]any)["namespace"] = ns
	if diff := cmp.Diff(shown, spec(alpha)); diff != "" || !hasPayload(alpha) {
		t.Errorf("v1alpha1 shows (-want +got)\n%s", diff)
	}
	if alpha.GetGeneration() != 1 || beta.GetGeneration() != 1 || alpha.GetResourceVersion() != created.GetResourceVersion() {
		t.Errorf("reading has changed the object: %v, %v", alpha.Object["metadata"], beta.Object["metadata"])
	}
}

// Each kind of patch in v1alpha1 changes the fields that it names, and keeps all others of v1beta1.
func TestEditsOfV1alpha1(t *testing.T) {
	for name, tc := range map[string]struct {
		kind  types.PatchType
		patch string
		edit  func(hub *unstructured.Unstructured)
	}{
		"a merge patch": {types.MergePatchType, `{"spec":{"defaultReplicas":7,"timezone":"UTC"}}`, func(hub *unstructured.Unstructured) {
			spec(hub)["defaultReplicas"], spec(hub)["timezone"] = int64(7), "UTC"
		}},
		"a JSON patch": {types.JSONPatchType, `[{"op":"replace","path":"/spec/windows/0/replicas","value":8},{"op":"replace","path":"/spec/windows/1/start","value":"11:00"}]`, func(hub *unstructured.Unstructured) {
			window(hub, 0)["replicas"], window(hub, 1)["start"] = int64(8), "11:00"
		}},
		"a window less": {types.JSONPatchType, `[{"op":"remove","path":"/spec/windows/0"}]`, func(hub *unstructured.Unstructured) {
			spec(hub)["windows"] = spec(hub)["windows"].([]any)[1:]
		}},
		"a label": {types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`, func(*unstructured.Unstructured) {}},
	} {
		t.Run(name, func(t *testing.T) {
			ns := newNamespace(t)
			want := create(t, ns, rich)
			tc.edit(want)
			patch(t, "v1alpha1", ns, "rich", tc.kind, tc.patch)
			got := get(t, "v1beta1", ns, "rich")
			if diff := cmp.Diff(spec(want), spec(got)); diff != "" || hasPayload(got) {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if generation := map[bool]int64{true: 2, false: 1}[name != "a label"]; got.GetGeneration() != generation {
				t.Errorf("generation %d, want %d", got.GetGeneration(), generation)
			}
		})
	}
}

// A PUT in v1alpha1 that keeps the annotation edits what v1alpha1 shows. One without it is refused, as it would lose the
// rest, and generation would not even move.
func TestPutWithoutTheAnnotation(t *testing.T) {
	ns := newNamespace(t)
	create(t, ns, rich)
	alpha := get(t, "v1alpha1", ns, "rich")
	spec(alpha)["pause"] = true
	_, err := in("v1alpha1", ns).Update(t.Context(), alpha, metav1.UpdateOptions{})
	harness.Must(t, err)
	before := get(t, "v1beta1", ns, "rich")
	if spec(before)["pause"] != true || window(before, 0)["replicas"] != "150%" {
		t.Errorf("the PUT became %v", spec(before))
	}

	alpha = get(t, "v1alpha1", ns, "rich")
	alpha.SetAnnotations(nil)
	_, err = in("v1alpha1", ns).Update(t.Context(), alpha, metav1.UpdateOptions{})
	want := "spec.baselineReplicas: Forbidden: would be lost, with 8 more fields: v1alpha1 does not have these fields, and annotation " +
		conversion.Annotation + " no longer preserves them; leave the annotation as it is, or use kyklos.io/v1beta1"
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
		t.Errorf("without the annotation: got %v", err)
	}
	if diff := cmp.Diff(before.Object, get(t, "v1beta1", ns, "rich").Object); diff != "" {
		t.Errorf("the refused PUT changed the object (-before +after)\n%s", diff)
	}
	create(t, ns, plain)
	alpha = get(t, "v1alpha1", ns, "plain")
	alpha.SetAnnotations(nil)
	_, err = in("v1alpha1", ns).Update(t.Context(), alpha, metav1.UpdateOptions{})
	harness.Must(t, err) // there is nothing to lose
}

// A target that v1alpha1 does not support can be read and kept there, but not set.
func TestOtherTargetsAreRatcheted(t *testing.T) {
	ns := newNamespace(t)
	object := parse(t, rich)
	target := spec(object)["targetRef"].(map[string]any)
	target["kind"] = "StatefulSet"
	_, err := in("v1beta1", ns).Create(t.Context(), object, metav1.CreateOptions{})
	harness.Must(t, err)
	patch(t, "v1alpha1", ns, "rich", types.MergePatchType, `{"spec":{"defaultReplicas":7}}`)
	if beta := get(t, "v1beta1", ns, "rich"); spec(beta)["defaultReplicas"] != int64(7) {
		t.Errorf("the edit became %v", spec(beta))
	}
	for _, refused := range []string{`{"spec":{"targetRef":{"kind":"DaemonSet"}}}`, `{"spec":{"targetRef":{"name":"other"}}}`} {
		if _, err := in("v1alpha1", ns).Patch(t.Context(), "rich", types.MergePatchType, []byte(refused), metav1.PatchOptions{}); err == nil {
			t.Errorf("v1alpha1 took %s", refused)
		}
	}
}

// The status is the same in both versions, and both can write it.
func TestStatusThroughBothVersions(t *testing.T) {
	ns := newNamespace(t)
	create(t, ns, rich)
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		const written = "2026-11-21T10:00:00.120+01:00" // no round trip through Go's types leaves this as it is
		text := fmt.Sprintf(`{"status":{"holiday":"2026-12-24","nextBoundary":%q}}`, written)
		answer, err := in(version, ns).Patch(t.Context(), "rich", types.MergePatchType, []byte(text), metav1.PatchOptions{}, "status")
		harness.Must(t, err)
		status := answer.Object["status"].(map[string]any)
		if status["nextBoundary"] != written || status["holiday"] != "2026-12-24" {
			t.Errorf("%s: status became %v", version, status)
		}
		if beta := get(t, "v1beta1", ns, "rich"); window(beta, 0)["replicas"] != "150%" || beta.GetGeneration() != 1 {
			t.Errorf("%s: writing status has changed the spec: %v", version, spec(beta))
		}
	}
}
