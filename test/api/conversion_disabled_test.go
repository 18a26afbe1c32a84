package api

import (
	"encoding/json"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/test/harness"
)

// A definition whose conversion was switched off does not go unnoticed: readiness, metric and refusals say so, and nothing
// is lost. The probe of the Deployment leaves this check out, so that the webhooks stay in service and can refuse.
func TestConversionDisabled(t *testing.T) {
	ns := newNamespace(t)
	create(t, ns, rich)
	before := spec(get(t, "v1beta1", ns, "rich"))
	crds := objects.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	convert := func(strategy any) {
		t.Helper()
		text, err := json.Marshal([]any{map[string]any{"op": "replace", "path": "/spec/conversion", "value": strategy}})
		harness.Must(t, err)
		_, err = crds.Patch(t.Context(), "timewindowscalers.kyklos.io", types.JSONPatchType, text, metav1.PatchOptions{})
		harness.Must(t, err)
	}
	definition, err := crds.Get(t.Context(), "timewindowscalers.kyklos.io", metav1.GetOptions{})
	harness.Must(t, err)
	webhook := definition.Object["spec"].(map[string]any)["conversion"]

	s := harness.NewT(t, cluster)
	convert(map[string]any{"strategy": "None"})
	s.Until("readiness saying so", func() bool {
		all, _ := s.GetURL(manager.HealthURL + "/readyz")
		return all == 500
	})
	if status, text := s.GetURL(manager.HealthURL + "/readyz?verbose"); status != 500 || !strings.Contains(text, "[-]conversion failed") {
		t.Errorf("got %d: %s", status, text)
	}
	if status, text := s.GetURL(manager.HealthURL + harness.ReadyPath); status != 200 {
		t.Errorf("the Deployment's probe: got %d, want 200: %s", status, text)
	}
	if got := s.Sum(manager, "kyklos_conversion_disabled"); got != 1 {
		t.Errorf("the metric: got %v, want 1", got)
	}
	s.Until("writes in v1alpha1 not being converted", func() bool {
		_, err := in("v1alpha1", ns).Patch(t.Context(), "rich", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil
	})
	for name, text := range map[string]string{"a label": `{"metadata":{"labels":{"a":"b"}}}`, "pause": `{"spec":{"pause":true}}`} {
		_, err := in("v1alpha1", ns).Patch(t.Context(), "rich", types.MergePatchType, []byte(text), metav1.PatchOptions{})
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "spec.conversion.strategy None") {
			t.Errorf("%s in v1alpha1: got %v, want a refusal that names the strategy", name, err)
		}
	}
	patch(t, "v1beta1", ns, "rich", types.MergePatchType, `{"metadata":{"labels":{"a":"c"}}}`)

	convert(webhook)
	s.Until("readiness again", func() bool {
		all, _ := s.GetURL(manager.HealthURL + "/readyz")
		return all == 200 && s.Sum(manager, "kyklos_conversion_disabled") == 0
	})
	if got, want := harness.Show(spec(get(t, "v1beta1", ns, "rich"))), harness.Show(before); got != want {
		t.Errorf("the spec is %s, was %s", got, want)
	}
	s.Until("writes in v1alpha1 again", func() bool {
		_, err := in("v1alpha1", ns).Patch(t.Context(), "rich", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})
		return err == nil
	})
}
