package workspace

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kyklos.io/kyklos/internal/scheme"
)

// W89: what the API server finds invalid is said of the template; what may change until the Pod starts is not.
func TestPodTrial(t *testing.T) {
	kind := schema.GroupKind{Kind: "Pod"}
	invalid := apierrors.NewInvalid(kind, "", field.ErrorList{
		field.Invalid(field.NewPath("spec", "containers").Index(0).Child("ports").Index(0).Child("name"), "too long", "must be no more than 15 characters"),
		field.Required(field.NewPath("spec", "containers").Index(1).Child("image"), ""),
		field.NotSupported(field.NewPath("spec", "dnsPolicy"), "None at all", []string{"Default"}),
	})
	for name, tc := range map[string]struct {
		answer error
		want   string
	}{
		"accepted": {},
		"a quota":  {answer: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", nil)},
		"away":     {answer: context.DeadlineExceeded},
		"invalid": {answer: invalid, want: `[spec.template.spec.containers[0].ports[0].name: Invalid value: "too long": must be no more than 15 characters, ` +
			`spec.template.spec.containers[1].image: Required value, spec.template.spec.dnsPolicy: Unsupported value: "None at all": supported values: "Default"]`},
	} {
		server := fake.NewClientBuilder().WithScheme(scheme.New()).WithInterceptorFuncs(interceptor.Funcs{
			Create: func(_ context.Context, _ client.WithWatch, object client.Object, options ...client.CreateOption) error {
				var all client.CreateOptions
				all.ApplyOptions(options)
				pod, isPod := object.(*corev1.Pod)
				if !isPod || len(all.DryRun) != 1 || pod.Name != "" || pod.GenerateName != "ws-home-" || pod.OwnerReferences[0].UID == "" {
					t.Errorf("created %+v with %+v", object, all)
				}
				return tc.answer
			},
		}).Build()
		ws := aWorkspace()
		ws.UID = "" // it is new
		got := ""
		if errs := PodTrial(server)(t.Context(), ws); len(errs) > 0 {
			got = errs.ToAggregate().Error()
		}
		if got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, tc.want)
		}
	}
}
