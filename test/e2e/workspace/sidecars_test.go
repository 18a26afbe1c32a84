package workspace

import (
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// W76: a service mesh injects a container into every Pod of the namespace, and it never ends by itself. Homes are archived and
// restored all the same, and no mover is left.
func TestMoversEndThoughSidecarsDoNot(t *testing.T) {
	s := newScenario(t)
	injected := s.injectSidecars()
	s.Start(nil)
	s.Create("/bin/sleep", "100000")
	s.AwaitSettled(fixtures.Running)
	s.archiveAndRestore("mine")
	if failure := s.Workspace().Status.Error; failure != nil {
		t.Errorf("an attempt failed: %s", failure.Message)
	}
	if injected.Load() < 2 {
		t.Errorf("the mesh saw %d movers, want one that archived and one that restored", injected.Load())
	}
}

// injectSidecars registers a webhook that adds a container to each Pod of the namespace. It returns how many movers got one, not
// counting dry runs.
func (s *scenario) injectSidecars() *atomic.Int64 {
	s.Helper()
	var injected atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		var pod corev1.Pod
		if json.NewDecoder(r.Body).Decode(&review) != nil || json.Unmarshal(review.Request.Object.Raw, &pod) != nil {
			http.Error(w, "no Pod", http.StatusBadRequest)
			return
		}
		if pod.Labels[objects.LabelRole] == objects.RoleMover && !ptr.Deref(review.Request.DryRun, false) {
			injected.Add(1)
		}
		proxy := corev1.Container{Name: "proxy", Image: harness.HostImage("/bin/sleep"), Args: []string{"100000"}, SecurityContext: pod.Spec.Containers[0].SecurityContext}
		patch, err := json.Marshal([]map[string]any{{"op": "add", "path": "/spec/containers/0", "value": proxy}})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID: review.Request.UID, Allowed: true, Patch: patch, PatchType: ptr.To(admissionv1.PatchTypeJSONPatch),
		}
		review.Request = nil
		_ = json.NewEncoder(w).Encode(review)
	}))
	s.Cleanup(server.Close)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	s.Must(s.Client.Create(s.Context(), &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "mesh." + s.Namespace},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:         "mesh.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &server.URL, CABundle: certificate},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": s.Namespace}},
			FailurePolicy:     ptr.To(admissionregistrationv1.Fail), SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}))
	return &injected
}
