package scaling

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"kyklos.io/kyklos/apis/v1beta1"
)

// change edits the CRD.
func (c *custom) change(how func(*apiextensionsv1.CustomResourceDefinitionSpec)) {
	c.Helper()
	c.Must(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		crd, err := c.crds.Get(c.Context(), c.crdName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		how(&crd.Spec)
		_, err = c.crds.Update(c.Context(), crd, metav1.UpdateOptions{})
		return err
	}))
}

// A kind whose conversion webhook is dead cannot be listed. Its scaler says so, in the status, an event and a metric, until
// it can be listed again; then the target is scaled.
func TestAKindThatCannotBeListed(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	c := newCustom(s, "Rollout")
	c.install(true)
	c.allow()
	c.create(map[string]any{"replicas": int64(1)})
	c.change(func(spec *apiextensionsv1.CustomResourceDefinitionSpec) {
		newer := *spec.Versions[0].DeepCopy()
		newer.Name, newer.Storage = "v2", false
		spec.Versions = append(spec.Versions, newer)
		spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: ptr.To("https://127.0.0.1:1/convert")},
				ConversionReviewVersions: []string{"v1"},
			},
		}
	})
	s.officeHours(scales(c.group+"/v2", "Rollout"))
	s.condition("Ready", "Unknown", v1beta1.ReasonTargetUnavailable)
	message := s.condition("Degraded", "True", v1beta1.ReasonTargetUnavailable)
	want := "The target cannot be read, so it is left alone; this is retried: the objects of kind Rollout of " + c.group + "/v2 cannot be listed and watched: "
	if !strings.HasPrefix(message, want) || !strings.Contains(message, "conversion webhook") {
		t.Errorf("got %q, want it to begin with %q and to name the conversion webhook", message, want)
	}
	s.awaitEvents("TargetUnavailable", message)
	if got := listFailures(t, c.group); got < 2 {
		t.Errorf("%v failures counted, want 2 or more", got)
	}
	c.change(func(spec *apiextensionsv1.CustomResourceDefinitionSpec) {
		spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	})
	c.scaledTo(10)
	s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
}

// listFailures is what the metric counts for the kinds of a group.
func listFailures(t *testing.T, group string) (total float64) {
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, label := range m.GetLabel() {
				if family.GetName() == "kyklos_target_list_failures_total" && label.GetName() == "group" && label.GetValue() == group {
					total += m.GetCounter().GetValue()
				}
			}
		}
	}
	return total
}
