package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/test/harness"
)

// newFloor defines a copy of the kind in another group, and serves a webhook for it that replaces the version.
func newFloor(b *testing.B) listing {
	floor := listing{group: "floor.example.com"}
	server := httptest.NewUnstartedServer(http.HandlerFunc(changeVersion))
	server.EnableHTTP2 = true
	server.StartTLS()
	b.Cleanup(server.Close)
	ours, err := objects.Resource(definitions).Get(b.Context(), "timewindowscalers.kyklos.io", metav1.GetOptions{})
	harness.Must(b, err)
	copied := &unstructured.Unstructured{Object: map[string]any{"apiVersion": ours.GetAPIVersion(), "kind": ours.GetKind(), "spec": ours.Object["spec"]}}
	copied.SetName(floor.definition())
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for path, value := range map[string]any{
		"group": floor.group, "conversion.webhook.clientConfig": map[string]any{"url": server.URL, "caBundle": base64.StdEncoding.EncodeToString(ca)},
	} {
		harness.Must(b, unstructured.SetNestedField(copied.Object, value, append([]string{"spec"}, strings.Split(path, ".")...)...))
	}
	_, err = objects.Resource(definitions).Create(b.Context(), copied, metav1.CreateOptions{})
	harness.Must(b, err)
	b.Cleanup(func() {
		_ = objects.Resource(definitions).Delete(context.Background(), floor.definition(), metav1.DeleteOptions{})
	})
	harness.Until(b, "the copy served", func() bool {
		_, err := objects.Resource(schema.GroupVersionResource{Group: floor.group, Version: "v1beta1", Resource: "timewindowscalers"}).List(b.Context(), metav1.ListOptions{})
		return err == nil
	})
	return floor
}

// changeVersion answers a ConversionReview.
func changeVersion(w http.ResponseWriter, r *http.Request) {
	var review struct {
		Request struct {
			UID     string
			Desired string `json:"desiredAPIVersion"`
			Objects []json.RawMessage
		}
	}
	if json.NewDecoder(r.Body).Decode(&review) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":%q,"result":{"status":"Success"},"convertedObjects":[`, review.Request.UID)
	other := strings.NewReplacer("v1beta1", "v1alpha1", "v1alpha1", "v1beta1").Replace(review.Request.Desired)
	for i, object := range review.Request.Objects {
		if i > 0 {
			_, _ = w.Write([]byte(","))
		}
		_, _ = w.Write(bytes.Replace(object, []byte(`"apiVersion":"`+other+`"`), []byte(`"apiVersion":"`+review.Request.Desired+`"`), 1))
	}
	_, _ = w.Write([]byte("]}}"))
}
