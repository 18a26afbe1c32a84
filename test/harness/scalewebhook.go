package harness

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// ScaleWebhook is another team's validating webhook for the scales of Deployments in one namespace.
type ScaleWebhook struct {
	server *httptest.Server
	t      *T
	name   string

	mu             sync.Mutex
	answer         func(ctx context.Context) error
	running, ended int
	most           int
}

// StartScaleWebhook registers a webhook with the timeout. answer refuses with an error, and may hang until ctx ends. The
// webhook ends with the test.
func (t *T) StartScaleWebhook(namespace string, timeoutSeconds int32, answer func(ctx context.Context) error) *ScaleWebhook {
	t.Helper()
	w := &ScaleWebhook{t: t, name: "scales." + namespace + ".example.com", answer: answer}
	w.server = httptest.NewTLSServer(http.HandlerFunc(w.serve))
	t.Cleanup(func() {
		w.Remove()
		w.server.CloseClientConnections()
		w.server.Close()
	})
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.server.Certificate().Raw})
	t.Must(t.Client.Create(t.Context(), &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: w.name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name:         w.name,
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &w.server.URL, CABundle: certificate},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments/scale"}},
			}},
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}},
			FailurePolicy:     ptr.To(admissionregistrationv1.Fail), SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds: &timeoutSeconds, AdmissionReviewVersions: []string{"v1"},
		}},
	}))
	return w
}

// Remove removes the configuration. It can be called again.
func (w *ScaleWebhook) Remove() {
	_ = w.t.Client.Delete(context.Background(), &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: w.name}})
}

// Close makes the webhook unreachable. Its configuration stays.
func (w *ScaleWebhook) Close() {
	w.server.CloseClientConnections()
	w.server.Close()
}

// Answer changes the answer.
func (w *ScaleWebhook) Answer(answer func(ctx context.Context) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = answer
}

// Calls returns how many calls run, how many have ended, and how many ran at the same time at most.
func (w *ScaleWebhook) Calls() (running, ended, most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running, w.ended, w.most
}

func (w *ScaleWebhook) serve(writer http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil || review.Request == nil {
		http.Error(writer, "no AdmissionReview", http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	w.running++
	w.most = max(w.most, w.running)
	answer := w.answer
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.running--
		w.ended++
		w.mu.Unlock()
	}()
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if err := answer(request.Context()); err != nil {
		review.Response.Allowed, review.Response.Result = false, &metav1.Status{Message: err.Error(), Code: http.StatusForbidden}
	}
	review.Request = nil
	_ = json.NewEncoder(writer).Encode(review)
}
