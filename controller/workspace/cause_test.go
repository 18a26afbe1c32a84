package workspace

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive/connect"
)

// call changes the Secret of the store to an S3 store.
func (w *world) call(server *httptest.Server, accessKey string) {
	w.Helper()
	var secret corev1.Secret
	w.update(w.server.Get(w.Context(), client.ObjectKey{Namespace: home.Namespace, Name: storeName}, &secret))
	secret.Data = map[string][]byte{
		connect.Endpoint: []byte(server.URL), connect.Bucket: []byte("homes"), connect.AccessKeyID: []byte(accessKey), connect.SecretAccessKey: []byte("of the tests"),
	}
	w.update(w.server.Update(w.Context(), &secret))
}

// A new Workspace says why its store refuses, without a value of the Secret, and is not written again while the store says the same in
// other words. Another cause is shown.
func TestANewWorkspaceSaysWhyItsStoreRefuses(t *testing.T) { // W61
	t.Parallel()
	var requests atomic.Int64
	var says atomic.Value
	says.Store("<Error><Code>AccessDenied</Code><Message>no rights for EXAMPLEKEY, request %d</Message></Error>")
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/xml")
		rw.Header().Set("X-Amz-Request-Id", fmt.Sprint(requests.Add(1)))
		rw.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(rw, says.Load().(string), requests.Load())
	}))
	defer server.Close()
	w := newWorld(t, aWorkspace())
	w.call(server, "EXAMPLEKEY")
	w.passes(3)
	ready := w.condition(v1alpha1.ConditionReady)
	if ready.Reason != v1alpha1.ReasonStoreUnreachable || !strings.Contains(ready.Message, "Cause: ") || !strings.Contains(ready.Message, "AccessDenied: no rights for (a value of the Secret), request ") {
		t.Errorf("%+v", ready)
	}
	if got := strings.Join(w.newEvents(), "\n"); strings.Count(got, "StoreUnreachable") != 1 || strings.Contains(got, "EXAMPLEKEY") || !strings.Contains(got, "AccessDenied") {
		t.Errorf("events:\n%s", got)
	}
	writes := w.faults.writes
	w.passes(10)
	if w.faults.writes != writes || requests.Load() < 10 {
		t.Errorf("%d writes after %d requests", w.faults.writes-writes, requests.Load())
	}
	says.Store("<Error><Code>InvalidAccessKeyId</Code><Message>there is no such key, request %d</Message></Error>")
	w.passes(2)
	if ready := w.condition(v1alpha1.ConditionReady); !strings.Contains(ready.Message, "InvalidAccessKeyId: there is no such key") {
		t.Errorf("%+v", ready)
	}
}

// A page for browsers is no answer of a store: the bucket is not missing.
func TestAPageIsNoStore(t *testing.T) { // W102
	t.Parallel()
	for _, status := range []int{http.StatusNotFound, http.StatusOK, http.StatusForbidden} {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			rw.WriteHeader(status)
			_, _ = fmt.Fprint(rw, "<!DOCTYPE html><html><body>Welcome<br></body></html>")
		}))
		t.Cleanup(server.Close)
		w := newWorld(t, aWorkspace())
		w.call(server, "EXAMPLEKEY")
		w.passes(3)
		if ready := w.condition(v1alpha1.ConditionReady); ready.Reason != v1alpha1.ReasonStoreUnreachable || !strings.Contains(ready.Message, "what answers is no S3 store") {
			t.Errorf("%d: %+v", status, ready)
		}
	}
}
