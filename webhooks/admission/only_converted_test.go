package admission

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Without conversion nothing is written in v1alpha1. With it, only what changes the spec or its annotation is judged.
func TestOnlyConverted(t *testing.T) {
	object := func(annotation, label, zone string) []byte {
		return []byte(`{"metadata":{"labels":{"a":"` + label + `"},"annotations":{"kyklos.io/v1beta1-spec":"` + annotation + `"}},"spec":{"timezone":"` + zone + `"}}`)
	}
	var reason error
	judged := false
	handler := onlyConverted(&admission.Webhook{Handler: admission.HandlerFunc(func(context.Context, admission.Request) admission.Response {
		judged = true
		return admission.Allowed("")
	})}, func() error { return reason })
	for name, tc := range map[string]struct {
		old, obj []byte
		judged   bool
	}{
		"create":       {nil, object("x", "1", "UTC"), true},
		"a label":      {object("x", "1", "UTC"), object("x", "2", "UTC"), false},
		"a spec":       {object("x", "1", "UTC"), object("x", "1", "Asia/Kolkata"), true},
		"a annotation": {object("x", "1", "UTC"), object("y", "1", "UTC"), true},
	} {
		req := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Name: "office", Object: runtime.RawExtension{Raw: tc.obj}, OldObject: runtime.RawExtension{Raw: tc.old},
		}}
		judged, reason = false, nil
		if response := handler.Handler.Handle(t.Context(), req); !response.Allowed || judged != tc.judged {
			t.Errorf("%s: allowed %t, judged %t, want %t", name, response.Allowed, judged, tc.judged)
		}
		judged, reason = false, errors.New("strategy None")
		response := handler.Handler.Handle(t.Context(), req)
		if response.Allowed || judged || response.Result.Code != http.StatusForbidden || !strings.Contains(response.Result.Message, "kyklos.io/v1alpha1 cannot be written now, use kyklos.io/v1beta1: strategy None") {
			t.Errorf("%s without conversion: %+v", name, response.Result)
		}
	}
}
