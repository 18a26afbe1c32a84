package docs

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
)

// decode reads a document into the Go type of its kind and refuses unknown fields.
func decode(t *testing.T, document string) metav1.Object {
	t.Helper()
	var kind metav1.TypeMeta
	if err := sigsyaml.Unmarshal([]byte(document), &kind); err != nil {
		t.Fatalf("%v in\n%s", err, document)
	}
	known := map[string]metav1.Object{
		"TimeWindowScaler":        &v1beta1.TimeWindowScaler{},
		"Deployment":              &appsv1.Deployment{},
		"StatefulSet":             &appsv1.StatefulSet{},
		"DaemonSet":               &appsv1.DaemonSet{},
		"ConfigMap":               &corev1.ConfigMap{},
		"Secret":                  &corev1.Secret{},
		"Namespace":               &corev1.Namespace{},
		"PersistentVolumeClaim":   &corev1.PersistentVolumeClaim{},
		"Workspace":               &v1alpha1.Workspace{},
		"Service":                 &corev1.Service{},
		"NetworkPolicy":           &networkingv1.NetworkPolicy{},
		"Ingress":                 &networkingv1.Ingress{},
		"HTTPRoute":               &gatewayv1.HTTPRoute{},
		"TCPRoute":                &gatewayv1.TCPRoute{},
		"ClusterRole":             &rbacv1.ClusterRole{},
		"Role":                    &rbacv1.Role{},
		"RoleBinding":             &rbacv1.RoleBinding{},
		"ServiceAccount":          &corev1.ServiceAccount{},
		"HorizontalPodAutoscaler": &autoscalingv2.HorizontalPodAutoscaler{},
	}
	object := known[kind.Kind]
	if object == nil {
		t.Fatalf("%q is not a known kind; in\n%s", kind.Kind, document)
	}
	if err := sigsyaml.UnmarshalStrict([]byte(document), object); err != nil {
		t.Errorf("%v in\n%s", err, document)
	}
	if tws, ok := object.(*v1beta1.TimeWindowScaler); ok {
		mustBeReadable(t, kind.APIVersion, tws, document)
	}
	return object
}

// mustBeReadable checks what the types do not: the schedule, and that a document of v1alpha1 has no field of v1beta1.
func mustBeReadable(t *testing.T, apiVersion string, tws *v1beta1.TimeWindowScaler, document string) {
	t.Helper()
	reading := schedule.FromSpec(&tws.Spec, field.NewPath("spec"))
	if errs := reading.Errors(); len(errs) > 0 {
		t.Errorf("%v in\n%s", errs.ToAggregate(), document)
	}
	switch apiVersion {
	case v1beta1.GroupVersion.String():
	case v1alpha1.GroupVersion.String():
		if err := sigsyaml.UnmarshalStrict([]byte(document), &v1alpha1.TimeWindowScaler{}); err != nil {
			t.Errorf("%v in\n%s", err, document)
		}
	default:
		t.Errorf("there is no %s; in\n%s", apiVersion, document)
	}
}
