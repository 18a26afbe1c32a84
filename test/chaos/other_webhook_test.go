package chaos

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/test/harness/fixtures"
)

// otherWebhook is another team's webhook for changes of Deployments in one namespace. It allows everything, after a time.
type otherWebhook struct {
	delay atomic.Int64
	calls atomic.Int64
}

func (s *scenario) startOtherWebhook() *otherWebhook {
	s.Helper()
	w := &otherWebhook{}
	server := httptest.NewTLSServer(http.HandlerFunc(w.review))
	s.Cleanup(server.Close)
	s.Cleanup(func() { w.delay.Store(0) })
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: s.Namespace},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "policy.example.com", AdmissionReviewVersions: []string{"v1"}, SideEffects: ptr.To(admissionregistrationv1.SideEffectClassNone),
			ClientConfig:      admissionregistrationv1.WebhookClientConfig{URL: ptr.To(server.URL), CABundle: ca},
			FailurePolicy:     ptr.To(admissionregistrationv1.Fail),
			TimeoutSeconds:    ptr.To[int32](10),
			NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": s.Namespace}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments", "deployments/scale"}},
			}},
		}},
	}
	s.Must(s.Client.Create(s.Context(), configuration))
	s.Cleanup(func() { _ = s.Client.Delete(context.Background(), configuration) })
	return w
}

func (w *otherWebhook) review(answer http.ResponseWriter, r *http.Request) {
	w.calls.Add(1)
	var review admissionv1.AdmissionReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(answer, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case <-time.After(time.Duration(w.delay.Load())):
	case <-r.Context().Done():
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	answer.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(answer).Encode(review)
}

// Another team's webhook answers changes of a Deployment after one second, and then too late. The first only takes longer.
// The second is tried again until it succeeds. A scaler of another target in the same manager notices nothing.
func TestOthersWebhookIsSlow(t *testing.T) {
	l := newLone(t)
	l.SetClock("2025-01-27 08:59:00")
	l.officeHours(fixtures.Deployments, "web", 3, "09:00", "17:00")
	l.officeHours(fixtures.StatefulSets, "db", 3, "09:00", "17:00")
	l.start()
	l.awaitCount(fixtures.Deployments, "web", 0)
	w := l.startOtherWebhook()
	l.Until("the webhook in force", func() bool {
		l.Patch(fixtures.Deployments.Reference(l.Named("web")), `{"metadata":{"annotations":{"test/webhook":"`+time.Now().String()+`"}}}`)
		return w.calls.Load() > 0
	})
	for _, c := range []struct {
		clock    string
		delay    time.Duration
		replicas int32
	}{{"2025-01-27 09:00:00", time.Second, 3}, {"2025-01-27 17:00:00", 11 * time.Second, 0}} {
		before := w.calls.Load()
		w.delay.Store(int64(c.delay))
		l.SetClock(c.clock)
		l.Until("a slow write", func() bool { return w.calls.Load() > before })
		began := time.Now()
		l.awaitCount(fixtures.StatefulSets, "db", c.replicas)
		l.measured("F16", "another scaler, while a webhook takes "+c.delay.String(), time.Since(began))
		if c.delay > 10*time.Second {
			l.Until("the failure in the conditions", func() bool {
				return l.condition("web", "Degraded") != "False Normal" && l.condition("web", "Ready")[:4] != "True"
			})
			w.delay.Store(0)
		}
		l.awaitCount(fixtures.Deployments, "web", c.replicas)
	}
	l.wroteOnly(fixtures.Deployments, "web", 3, 0)
}

// Kyklos's own webhooks hold up nobody for long: the API server gives up soon, and allows the request, unless it is a write in
// v1alpha1, which needs the same server for its conversion.
func TestOwnWebhooksAreGivenUpSoon(t *testing.T) {
	var list admissionregistrationv1.ValidatingWebhookConfigurationList
	if err := admin.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, configuration := range list.Items {
		for _, w := range configuration.Webhooks {
			if configuration.Name != "kyklos-webhook" {
				continue
			}
			seen++
			policy := admissionregistrationv1.Ignore
			if w.Name == "validate.v1alpha1.timewindowscaler.kyklos.io" {
				policy = admissionregistrationv1.Fail
			}
			if *w.TimeoutSeconds > 5 || *w.FailurePolicy != policy {
				t.Errorf("%s: got %d s and %s, want at most 5 s and %s", w.Name, *w.TimeoutSeconds, *w.FailurePolicy, policy)
			}
		}
	}
	if seen == 0 {
		t.Error("there is no webhook kyklos-webhook")
	}
}
