package install

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

// pods applies the shipped Deployment. Its pods are simulated.
func (s *scenario) pods(t *testing.T) {
	_, warnings := s.Kubectl(s.render(harness.Default, "Deployment"), "apply", "--server-side", "-f", "-")
	if strings.Contains(warnings, "Warning") {
		t.Errorf("got warnings about pod security: %s", warnings)
	}
	const system = harness.SystemNamespace
	s.awaitField(system, "deployment/kyklos-manager", "{.status.readyReplicas}", "2")
	s.awaitField(system, "poddisruptionbudget/kyklos-manager", "{.status.disruptionsAllowed}", "1")
	var pods corev1.PodList
	s.Must(s.Client.List(t.Context(), &pods, client.InNamespace(system)))
	for i := range pods.Items {
		if p := pods.Items[i].Spec.Priority; p == nil || *p != 1000000 {
			t.Errorf("%s: got the priority %v, want 1000000", pods.Items[i].Name, p)
		}
	}
	_, _, err := s.Cluster.Kubectl(t.Context(), "", "run", "-n", system, "--image=any", "unrestricted")
	if err == nil || !strings.Contains(err.Error(), `violates PodSecurity "restricted:latest"`) {
		t.Errorf("an unrestricted pod: got %v, want a refusal", err)
	}
}

// render returns the first object of the kind in a folder of config.
func (s *scenario) render(folder, kind string) string {
	s.Helper()
	rendered, _ := s.Kubectl("", "kustomize", filepath.Join(s.root, "config", folder))
	for document := range strings.SplitSeq(rendered, "\n---\n") {
		var object metav1.TypeMeta
		s.Must(yaml.Unmarshal([]byte(document), &object))
		if object.Kind == kind {
			return document
		}
	}
	s.Fatalf("no %s in %s", kind, folder)
	return ""
}

// manifests checks what the manifests repeat.
func (s *scenario) manifests(t *testing.T) {
	var deployment appsv1.Deployment
	s.Must(yaml.UnmarshalStrict([]byte(s.render(harness.Default, "Deployment")), &deployment))
	var policy networkingv1.NetworkPolicy
	s.Must(yaml.UnmarshalStrict([]byte(s.render(harness.Default, "NetworkPolicy")), &policy))
	pod, manager := &deployment.Spec.Template.Spec, &deployment.Spec.Template.Spec.Containers[0]

	var listening, open []int
	for _, port := range manager.Ports {
		listening = append(listening, int(port.ContainerPort))
	}
	for _, port := range policy.Spec.Ingress[0].Ports {
		open = append(open, port.Port.IntValue())
	}
	if diff := cmp.Diff(listening, open); diff != "" {
		t.Errorf("the ports of the NetworkPolicy (-container +policy)\n%s", diff)
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
	s.Must(err)
	if limit := float64(manager.Resources.Limits.Memory().Value()) / (1 << 20); math.Abs(float64(mebibytes)-0.9*limit) > 1 {
		t.Errorf("GOMEMLIMIT is %d MiB, want nine tenths of %.0f MiB", mebibytes, limit)
	}
}
