package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// The conversion webhook never answers, then answers with an error, and then with objects that lack their spec. Clients of
// v1alpha1 get errors. Schedules go on, and v1beta1 can be read, applied and deleted: none of these requests waits for the webhook. The
// API server converts what it stores for its own watch of v1alpha1 too, at times of its own; only v1beta1 is what clients write.
func TestConversionIsSlowOrWrong(t *testing.T) {
	s := newScenario(t)
	l := &lone{scenario: s, proxy: s.StartProxy()}
	l.SetClock("2025-01-27 08:59:00")
	l.officeHours(fixtures.Deployments, "web", 3, "09:00", "17:00")
	l.start()
	l.AwaitSettled(1, 0)
	var answer atomic.Pointer[http.HandlerFunc]
	var calls, written atomic.Int64
	s.convertBy(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		body, err := io.ReadAll(r.Body)
		if err == nil && bytes.Contains(body, []byte(`"desiredAPIVersion":"`+v1beta1.GroupVersion.String()+`"`)) {
			written.Add(1)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		(*answer.Load())(w, r)
	})
	for _, c := range []struct {
		name, clock string
		answer      http.HandlerFunc
		replicas    int32
	}{
		{"no answer", "2025-01-27 09:00:00", silent, 3},
		{"an error", "2025-01-27 17:00:00", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, 0},
		{"objects without spec", "2025-01-28 09:00:00", withoutSpec, 3},
	} {
		answer.Store(&c.answer)
		before := calls.Load()
		l.Until("a request of v1alpha1", func() bool {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			err := l.Client.Get(ctx, client.ObjectKey{Namespace: l.Namespace, Name: "web"}, &v1alpha1.TimeWindowScaler{})
			return calls.Load() > before && (err != nil || c.name == "objects without spec")
		})
		l.SetClock(c.clock)
		l.AwaitSettled(1, c.replicas)
		applied := `{"apiVersion":"kyklos.io/v1beta1","kind":"TimeWindowScaler","spec":{"baselineReplicas":` + map[bool]string{true: "7", false: "8"}[c.replicas > 0] + `}}`
		l.Must(l.Client.Patch(t.Context(), &v1beta1.TimeWindowScaler{ObjectMeta: l.Named("web")},
			client.RawPatch(types.ApplyPatchType, []byte(applied)), client.FieldOwner("test"), client.ForceOwnership))
		if n := written.Load(); n > 0 {
			t.Errorf("%s: %d conversions to v1beta1", c.name, n)
		}
	}
	l.Must(l.Client.Delete(t.Context(), &v1beta1.TimeWindowScaler{ObjectMeta: l.Named("web")}))
}

// convertBy makes the API server convert scalers by another webhook until the test ends.
func (s *scenario) convertBy(handle http.HandlerFunc) {
	s.Helper()
	server := httptest.NewTLSServer(handle)
	s.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	shipped := s.definition().Spec.Conversion
	change := func(to *apiextensionsv1.CustomResourceConversion) {
		s.Until("the definition changed", func() bool {
			crd := s.definition()
			crd.Spec.Conversion = to
			_, err := s.extensions().ApiextensionsV1().CustomResourceDefinitions().Update(context.WithoutCancel(s.Context()), crd, metav1.UpdateOptions{})
			return err == nil
		})
	}
	other := shipped.DeepCopy()
	other.Webhook.ClientConfig = &apiextensionsv1.WebhookClientConfig{URL: ptr.To(server.URL), CABundle: ca}
	change(other)
	s.Cleanup(func() { change(shipped) })
}

// silent waits until the client is gone.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// withoutSpec converts by leaving out the spec.
func withoutSpec(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct {
			UID               string            `json:"uid"`
			DesiredAPIVersion string            `json:"desiredAPIVersion"`
			Objects           []json.RawMessage `json:"objects"`
		} `json:"request"`
	}
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	converted := []map[string]any{}
	for _, object := range review.Request.Objects {
		var known map[string]any
		if err := json.Unmarshal(object, &known); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		delete(known, "spec")
		known["apiVersion"] = review.Request.DesiredAPIVersion
		converted = append(converted, known)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
		"response": map[string]any{"uid": review.Request.UID, "result": map[string]any{"status": "Success"}, "convertedObjects": converted},
	})
}
