package objects_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

func TestServiceObject(t *testing.T) {
	ws := ann()
	ws.Spec.Ports = []int32{8080, 2222}
	golden(t, "service", objects.Service(ws), nil)
	if got := objects.Address(ws); got != "ws-ann.team.svc:8080" {
		t.Errorf("its address is %q", got)
	}
	ws.Spec.Ports = nil
	if got := objects.Address(ws); got != "" {
		t.Errorf("without ports its address is %q", got)
	}
}

// W84: the Service of any Workspace has a name that a Service may have, leads to its Pod and never to a mover, and is found as it was
// made.
func TestServiceOfAnyWorkspace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ws := workspaces(t)
		service := objects.Service(ws)
		if wrong := validation.IsDNS1035Label(service.Name); len(wrong) > 0 {
			t.Fatalf("%s: %v", service.Name, wrong)
		}
		pod, err := objects.Pod(ws, action(lifecycle.ActCreatePod))
		if err != nil {
			t.Fatal(err)
		}
		selects := labels.SelectorFromSet(service.Spec.Selector)
		if mover := objects.Job(ws, action(lifecycle.ActCreateJob), move(lifecycle.Archiving)); !selects.Matches(labels.Set(pod.Labels)) ||
			selects.Matches(labels.Set(mover.Spec.Template.Labels)) {
			t.Fatalf("it selects by %v", service.Spec.Selector)
		}
		if len(service.Spec.Ports) != len(ws.Spec.Ports) || !objects.Ours(ws, service) || !service.Spec.PublishNotReadyAddresses {
			t.Fatalf("got %+v", service)
		}
		if _, differs := objects.MendService(ws, service); differs {
			t.Fatal("it differs from itself")
		}
	})
}

// What others set is mended if the Workspace is not reached then, or is reached from elsewhere. The rest stays.
func TestMendService(t *testing.T) {
	for name, c := range map[string]struct {
		edit    func(*corev1.Service)
		differs bool
	}{
		"a selector":      {func(s *corev1.Service) { s.Spec.Selector = map[string]string{"app": "other"} }, true},
		"no ports":        {func(s *corev1.Service) { s.Spec.Ports = nil }, true},
		"another target":  {func(s *corev1.Service) { s.Spec.Ports[0].TargetPort.IntVal++ }, true},
		"a load balancer": {func(s *corev1.Service) { s.Spec.Type = corev1.ServiceTypeLoadBalancer }, true},
		"external":        {func(s *corev1.Service) { s.Spec.ExternalIPs = []string{"192.0.2.1"} }, true},
		"ready ones only": {func(s *corev1.Service) { s.Spec.PublishNotReadyAddresses = false }, true},
		"no labels":       {func(s *corev1.Service) { s.Labels = nil }, true},
		"W107: near ones": {func(s *corev1.Service) {
			s.Spec.InternalTrafficPolicy = ptr.To(corev1.ServiceInternalTrafficPolicyLocal)
		}, true},
		"W107: nearest": {func(s *corev1.Service) {
			s.Spec.TrafficDistribution = ptr.To(corev1.ServiceTrafficDistributionPreferSameNode)
		}, true},
		"W107: sticky": {func(s *corev1.Service) {
			s.Spec.SessionAffinity = corev1.ServiceAffinityClientIP
			s.Spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{TimeoutSeconds: ptr.To[int32](9)}}
		}, true},
		"W107: another name": {func(s *corev1.Service) {
			s.Spec.Type, s.Spec.ExternalName = corev1.ServiceTypeExternalName, "example.com"
		}, true},
		"W107: no owner":     {func(s *corev1.Service) { s.OwnerReferences = nil }, true},
		"W107: a mere owner": {func(s *corev1.Service) { s.OwnerReferences[0].Controller = nil }, true},
		"another owner": {func(s *corev1.Service) {
			s.OwnerReferences = append(s.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "a", UID: "b"})
		}, false},
		"its families": {func(s *corev1.Service) {
			s.Spec.IPFamilies, s.Spec.IPFamilyPolicy = []corev1.IPFamily{corev1.IPv4Protocol}, ptr.To(corev1.IPFamilyPolicySingleStack)
		}, false},
		"a label":       {func(s *corev1.Service) { s.Labels["team"] = "a" }, false},
		"an annotation": {func(s *corev1.Service) { s.Annotations = map[string]string{"a": "b"} }, false},
		"its address":   {func(s *corev1.Service) { s.Spec.ClusterIP, s.Spec.ClusterIPs = "10.0.0.7", []string{"10.0.0.7"} }, false},
	} {
		ws := ann()
		found := objects.Service(ws)
		c.edit(found)
		before := found.DeepCopy()
		mended, differs := objects.MendService(ws, found)
		if differs != c.differs {
			t.Errorf("%s: differs %v", name, differs)
		}
		if _, again := objects.MendService(ws, mended); again {
			t.Errorf("%s: it is not mended", name)
		}
		if !objects.Ours(ws, mended) || len(mended.OwnerReferences) != max(len(before.OwnerReferences), 1) {
			t.Errorf("%s: the owners are %+v", name, mended.OwnerReferences)
		}
		if mended.Labels["team"] != before.Labels["team"] || mended.Annotations["a"] != before.Annotations["a"] || mended.Spec.ClusterIP != before.Spec.ClusterIP {
			t.Errorf("%s: got %+v", name, mended)
		}
	}
}

// W107: without its controller the label tells whose it is. With another one, or the label of another Workspace, it is somebody else's.
func TestOurService(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*corev1.Service)
		ours bool
	}{
		"as made":            {func(*corev1.Service) {}, true},
		"no labels":          {func(s *corev1.Service) { s.Labels = nil }, true},
		"no owner":           {func(s *corev1.Service) { s.OwnerReferences = nil }, true},
		"no owner, no label": {func(s *corev1.Service) { s.OwnerReferences, s.Labels = nil, nil }, false},
		"another controller": {func(s *corev1.Service) { s.OwnerReferences[0].UID = "other" }, false},
		"an earlier one":     {func(s *corev1.Service) { s.OwnerReferences, s.Labels[objects.LabelWorkspaceUID] = nil, "earlier" }, false},
	} {
		ws := ann()
		found := objects.Service(ws)
		c.edit(found)
		if got := objects.OurService(ws, found); got != c.ours {
			t.Errorf("%s: %v", name, got)
		}
	}
}
