package api

import (
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// A webhook configuration that was deleted, or lost its webhooks, does not go unnoticed: readiness and a metric say so. The
// probe of the Deployment leaves this check out, so that conversion stays in service.
func TestAdmissionDisabled(t *testing.T) {
	s := harness.NewT(t, cluster)
	config := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "kyklos-webhook"}}
	read := func() {
		t.Helper()
		s.Must(admin.Get(t.Context(), client.ObjectKeyFromObject(config), config))
	}
	read()
	shipped := config.DeepCopy()
	shipped.ResourceVersion, shipped.UID = "", ""

	for name, disable := range map[string]func(){
		"deleted": func() { s.Must(admin.Delete(t.Context(), config)) },
		"emptied": func() { config.Webhooks = nil; s.Must(admin.Update(t.Context(), config)) },
	} {
		disable()
		s.Until("the metric of a configuration that was "+name, func() bool { return s.Sum(manager, "kyklos_admission_disabled") == 1 })
		if status, text := s.GetURL(manager.HealthURL + "/readyz?verbose"); status != 500 || !strings.Contains(text, "[-]admission failed") {
			t.Errorf("%s: got %d: %s", name, status, text)
		}
		if status, text := s.GetURL(manager.HealthURL + harness.ReadyPath); status != 200 {
			t.Errorf("%s, the Deployment's probe: got %d, want 200: %s", name, status, text)
		}
		s.Must(client.IgnoreNotFound(admin.Delete(t.Context(), config)))
		config = shipped.DeepCopy()
		s.Must(admin.Create(t.Context(), config))
		s.Until("readiness again", func() bool {
			status, _ := s.GetURL(manager.HealthURL + "/readyz")
			read()
			return status == 200 && s.Sum(manager, "kyklos_admission_disabled") == 0
		})
	}
}
