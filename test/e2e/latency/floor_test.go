package latency

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// startFloor serves webhooks that allow everything, and has the API server call them in the namespaces with the label, under
// the same conditions as Kyklos's: what any two webhooks cost.
func (s *scenario) startFloor(label string) {
	var calls atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		var review struct{ Request struct{ UID string } }
		_ = json.NewDecoder(r.Body).Decode(&review)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":%q,"allowed":true}}`, review.Request.UID)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	s.Cleanup(server.Close)
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for _, kind := range []string{"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"} {
		ours := &unstructured.Unstructured{}
		ours.SetGroupVersionKind(schema.GroupVersionKind{Group: "admissionregistration.k8s.io", Version: "v1", Kind: kind})
		s.Must(s.Client.Get(s.Context(), client.ObjectKey{Name: "kyklos-webhook"}, ours))
		var copied []any
		webhooks, _, err := unstructured.NestedSlice(ours.Object, "webhooks")
		s.Must(err)
		for _, item := range webhooks {
			webhook := item.(map[string]any)
			if name := webhook["name"].(string); name == "default.timewindowscaler.kyklos.io" || name == "validate.timewindowscaler.kyklos.io" {
				webhook["name"] = "floor." + name
				webhook["clientConfig"] = map[string]any{"url": server.URL, "caBundle": base64.StdEncoding.EncodeToString(ca)}
				webhook["namespaceSelector"] = map[string]any{"matchExpressions": []any{map[string]any{"key": label, "operator": "Exists"}}}
				copied = append(copied, webhook)
			}
		}
		floor := &unstructured.Unstructured{Object: map[string]any{"webhooks": copied}}
		floor.SetGroupVersionKind(ours.GroupVersionKind())
		floor.SetName("floor")
		s.Must(s.Client.Create(s.Context(), floor))
	}
	i := 0
	s.Until("both called", func() bool {
		i++
		probe := schedule(s.floor, fmt.Sprintf("probe-%d", i))
		before := calls.Load()
		s.Must(s.Client.Create(s.Context(), probe))
		s.Must(s.Client.Delete(s.Context(), probe))
		return calls.Load() == before+2
	})
}
