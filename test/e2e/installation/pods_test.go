package installation

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"kyklos.io/kyklos/test/harness"
)

// pods applies the Deployment as it is shipped; the pods are simulated.
func (s *site) pods(t *testing.T) {
	_, warnings := s.kubectl(s.document(harness.Default, "Deployment"), "apply", "--server-side", "-f", "-")
	if strings.Contains(warnings, "Warning") {
		t.Errorf("the namespace's pod security warns: %s", warnings)
	}
	const system = harness.SystemNamespace
	s.awaits(system, "deployment/kyklos-manager", "{.status.readyReplicas}", "2")
	s.awaits(system, "poddisruptionbudget/kyklos-manager", "{.status.disruptionsAllowed}", "1")
	var pods corev1.PodList
	s.must(s.admin.List(t.Context(), &pods, client.InNamespace(system)))
	for i := range pods.Items {
		if p := pods.Items[i].Spec.Priority; p == nil || *p != 1000000 {
			t.Errorf("%s has the priority %v", pods.Items[i].Name, p)
		}
	}
	_, _, err := s.cluster.Kubectl(t.Context(), "", "run", "-n", system, "--image=any", "unrestricted")
	if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("a pod that is not restricted: %v", err)
	}
}

// document is the first object of the kind in a folder of config.
func (s *site) document(folder, kind string) string {
	s.Helper()
	root, err := harness.Root()
	s.must(err)
	rendered, _ := s.kubectl("", "kustomize", filepath.Join(root, "config", folder))
	for document := range strings.SplitSeq(rendered, "\n---\n") {
		var object metav1.TypeMeta
		s.must(yaml.Unmarshal([]byte(document), &object))
		if object.Kind == kind {
			return document
		}
	}
	s.Fatalf("no %s in %s", kind, folder)
	return ""
}

// What is written in two places of the manifests agrees.
func (s *site) manifests(t *testing.T) {
	var deployment appsv1.Deployment
	s.must(yaml.UnmarshalStrict([]byte(s.document(harness.Default, "Deployment")), &deployment))
	var policy networkingv1.NetworkPolicy
	s.must(yaml.UnmarshalStrict([]byte(s.document(harness.Default, "NetworkPolicy")), &policy))
	pod, manager := &deployment.Spec.Template.Spec, &deployment.Spec.Template.Spec.Containers[0]

	var listening, open []int
	for _, port := range manager.Ports {
		listening = append(listening, int(port.ContainerPort))
	}
	for _, port := range policy.Spec.Ingress[0].Ports {
		open = append(open, port.Port.IntValue())
	}
	if diff := cmp.Diff(listening, open); diff != "" {
		t.Errorf("the NetworkPolicy opens other ports than the container has: (-container +policy)\n%s", diff)
	}
	// A Deployment's selector can never change.
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/name": "kyklos"}}
	if diff := cmp.Diff(selector, deployment.Spec.Selector); diff != "" {
		t.Errorf("the selector: (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(selector, &policy.Spec.PodSelector); diff != "" {
		t.Errorf("the NetworkPolicy's selector: (-want +got)\n%s", diff)
	}
	const shutdown = 8 * time.Second // cmd/kyklos
	leaving := time.Duration(manager.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; grace <= leaving+shutdown {
		t.Errorf("the pod is killed after %s, but takes up to %s", grace, leaving+shutdown)
	}
	i := slices.IndexFunc(manager.Env, func(e corev1.EnvVar) bool { return e.Name == "GOMEMLIMIT" })
	mebibytes, err := strconv.Atoi(strings.TrimSuffix(manager.Env[i].Value, "MiB"))
	s.must(err)
	if limit := float64(manager.Resources.Limits.Memory().Value()) / (1 << 20); math.Abs(float64(mebibytes)-0.9*limit) > 1 {
		t.Errorf("GOMEMLIMIT is %d MiB, want nine tenths of %.0f MiB", mebibytes, limit)
	}
}
