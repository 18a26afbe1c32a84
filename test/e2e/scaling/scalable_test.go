package scaling

import (
	"context"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// custom is a kind of a CRD in a group of its own.
type custom struct {
	*scenario
	group string
	kind  string
	crds  apiextensions.CustomResourceDefinitionInterface
}

func newCustom(s *scenario, kind string) *custom {
	s.Helper()
	client, err := apiextensions.NewForConfig(cluster.Config)
	s.Must(err)
	c := &custom{scenario: s, group: s.namespace + ".example.com", kind: kind, crds: client.CustomResourceDefinitions()}
	s.Cleanup(func() { _ = c.crds.Delete(context.Background(), c.crdName(), metav1.DeleteOptions{}) })
	return c
}

func (c *custom) plural() string     { return strings.ToLower(c.kind) + "s" }
func (c *custom) crdName() string    { return c.plural() + "." + c.group }
func (c *custom) apiVersion() string { return c.group + "/v1" }

// install creates the CRD, with or without the scale subresource, and waits until it is served.
func (c *custom) install(scalable bool) {
	c.Helper()
	subresources := &apiextensionsv1.CustomResourceSubresources{}
	if scalable {
		subresources.Scale = &apiextensionsv1.CustomResourceSubresourceScale{
			SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas",
		}
	}
	_, err := c.crds.Create(c.Context(), &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: c.crdName()},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: c.group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: c.plural(), Kind: c.kind},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Subresources: subresources,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: ptr.To(true),
					Properties: map[string]apiextensionsv1.JSONSchemaProps{
						"spec":   {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"replicas": {Type: "integer"}}},
						"status": {Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"replicas": {Type: "integer"}}},
					},
				}},
			}},
		},
	}, metav1.CreateOptions{})
	c.Must(err)
	c.Until("the kind served", func() bool {
		return admin.List(c.Context(), c.empty(), client.InNamespace(c.namespace)) == nil
	})
}

func (c *custom) empty() *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(c.apiVersion())
	list.SetKind(c.kind + "List")
	return list
}

// allow creates the ClusterRole of docs/targets.md.
func (c *custom) allow() {
	c.Helper()
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: c.crdName(), Labels: map[string]string{targetkind.AggregationLabel: "true"}},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{c.group}, Resources: []string{c.plural()}, Verbs: []string{"get", "list", "watch"}},
			{APIGroups: []string{c.group}, Resources: []string{c.plural() + "/scale"}, Verbs: []string{"get", "patch"}},
		},
	}
	c.Must(admin.Create(c.Context(), role))
}

func (c *custom) create(spec map[string]any) {
	c.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetAPIVersion(c.apiVersion())
	object.SetKind(c.kind)
	object.SetNamespace(c.namespace)
	object.SetName(targetName)
	c.Must(admin.Create(c.Context(), object))
}

func (c *custom) replicas() int64 {
	c.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(c.apiVersion())
	object.SetKind(c.kind)
	c.Get(c.namespace, targetName, object)
	replicas, _, err := unstructured.NestedInt64(object.Object, "spec", "replicas")
	c.Must(err)
	return replicas
}

// patch writes the object as its controller or a user does.
func (c *custom) patch(text string) {
	c.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(c.apiVersion())
	object.SetKind(c.kind)
	object.SetNamespace(c.namespace)
	object.SetName(targetName)
	c.Must(admin.Patch(c.Context(), object, client.RawPatch("application/merge-patch+json", []byte(text))))
}

func (c *custom) scaledTo(replicas int64) {
	c.Helper()
	c.Until("the replicas", func() bool { return c.replicas() == replicas })
}

// The scaler is created first, then its kind, the permission and the target. Each step is reported within one pass, and
// scalers of other kinds keep working.
func TestKindInstalledLater(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	c := newCustom(s, "Rollout")
	s.officeHours(scales(c.apiVersion(), "Rollout"))
	message := s.condition("Ready", "False", v1beta1.ReasonTargetNotFound)
	s.equal("message", message, "Target Rollout "+s.namespace+"/webapp not found: "+c.apiVersion()+
		" has no Rollout, and nothing else in this cluster has one that can be scaled: install what brings this kind, or correct apiVersion and kind")

	c.install(true)
	s.clock("2025-01-27 14:01:00") // the next pass, ahead of time
	message = s.condition("Degraded", "True", v1beta1.ReasonTargetForbidden)
	if !strings.HasPrefix(message, "Kyklos has no permission to scale "+c.crdName()+": create a ClusterRole with the label "+targetkind.AggregationLabel) {
		t.Errorf("message: %s", message)
	}
	s.awaitEvents("TargetForbidden", message)
	s.condition("Ready", "False", v1beta1.ReasonTargetForbidden)

	c.allow()
	s.clock("2025-01-27 14:02:00")
	s.equal("message", s.condition("Ready", "False", v1beta1.ReasonTargetNotFound), "Target Rollout "+s.namespace+"/webapp not found; create it, correct spec.targetRef, or delete this TimeWindowScaler if it is not needed any more")
	c.create(map[string]any{}) // asks for no count
	c.scaledTo(10)
	c.patch(`{"status":{"replicas":10}}`)
	s.Until("Ready", func() bool { return s.ready(10) })
}

// A kind with the scale subresource behaves like a Deployment.
func TestAKindWithTheScaleSubresource(t *testing.T) {
	s := newScenario(t, "2025-01-27 08:59:00")
	c := newCustom(s, "Fleet")
	c.install(true)
	c.allow()
	c.create(map[string]any{"replicas": 2, "strategy": "kept"})
	s.officeHours(scales(c.apiVersion(), "Fleet"))
	c.patch(`{"status":{"replicas":2}}`)
	s.Until("Ready", func() bool { return s.ready(2) })
	s.clock("2025-01-27 09:00:00")
	c.scaledTo(10)
	s.condition("Reconciling", "True", v1beta1.ReasonWindowTransition)
	c.patch(`{"status":{"replicas":10}}`)
	s.Until("Ready", func() bool { return s.ready(10) })
	s.awaitEvents("ScaledUp", "Scaled up from 2 to 10 replicas (window: BusinessHours)")

	// A pass over a scaler at rest sends no request, not even for discovery (B9).
	s.clockIsKnown()
	asked, passes := len(sent.about(s.namespace)), s.passes()
	s.clock("2025-01-27 10:00:00")
	s.Until("a pass", func() bool { return s.passes() > passes })
	s.clockIsKnown()
	if more := sent.about(s.namespace)[asked:]; len(more) > 0 {
		t.Errorf("asked at rest: %q", more)
	}

	c.patch(`{"spec":{"replicas":15}}`)
	s.awaitEvents("ScaledDown", "Corrected manual drift: scaled down from 15 to 10 replicas (window: BusinessHours)")
	c.scaledTo(10)

	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DefaultReplicas = intstr.FromInt32(1) })
	s.clock("2025-01-27 18:00:00")
	s.awaitEvents("ScalingSkipped", "Scaling skipped due to pause: current=10, desired=1")
	s.equal("while paused", c.replicas(), int64(10))
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
	c.scaledTo(1)

	s.Must(c.crds.Delete(t.Context(), c.crdName(), metav1.DeleteOptions{}))
	s.Until("the kind unknown", func() bool {
		return strings.Contains(s.condition("Ready", "False", v1beta1.ReasonTargetNotFound), " has no Fleet, ")
	})
	s.Until("the CRD gone", func() bool {
		_, err := c.crds.Get(t.Context(), c.crdName(), metav1.GetOptions{})
		return err != nil
	})
	c.install(true)
	c.create(map[string]any{"replicas": 7})
	c.scaledTo(1)
}

// A kind that cannot be scaled is reported at run time, and nothing is written.
func TestAKindWithoutTheScaleSubresource(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	c := newCustom(s, "Widget")
	c.install(false)
	c.allow()
	c.create(map[string]any{"replicas": 2})
	s.officeHours(scales(c.apiVersion(), "Widget"))
	message := s.condition("Degraded", "True", v1beta1.ReasonInvalidConfiguration)
	s.equal("message", message, `spec.targetRef.kind: Invalid value: "Widget": Widget of `+c.apiVersion()+
		" cannot be scaled: it has no scale subresource, through which a replica count is set")
	s.equal("the object", c.replicas(), int64(2))
}
