package scaling

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/explain"
	explaincluster "kyklos.io/kyklos/cli/explain/cluster"
)

// noStatus denies writes of the status in a namespace.
const noStatus = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: no-status-%[1]s}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [kyklos.io], apiVersions: ["*"], operations: [UPDATE], resources: [timewindowscalers/status]}
  validations:
  - {expression: "false", message: the status is frozen}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: no-status-%[1]s}
spec:
  policyName: no-status-%[1]s
  validationActions: [Deny]
  matchResources:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[1]s}}
`

// The API server may refuse a status that Kyklos has decided. The target is scaled all the same; an event, and not one for each
// attempt, says why the status stays as it is. That is no failure to scale.
func TestARefusedStatus(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(2)
	s.officeHours()
	s.settles(10)
	policy := fmt.Sprintf(noStatus, s.namespace)
	s.Kubectl(policy, "apply", "-f", "-")
	defer s.Kubectl(policy, "delete", "-f", "-")
	s.Until("the policy in force", func() bool {
		probe := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"currentWindow":"probe"}}`))
		return apierrors.IsInvalid(admin.Status().Patch(s.Context(), s.scaler(), probe, client.DryRunAll))
	})
	for _, replicas := range []int32{7, 6} { // an edit is tried at once
		s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Windows[0].Replicas = intstr.FromInt32(replicas) })
		s.Until(fmt.Sprintf("%d replicas", replicas), func() bool { return *s.deployment().Spec.Replicas == replicas })
		s.Until("a warning", func() bool { return len(s.notes("StatusRefused")) > 0 })
	}
	notes := s.notes("StatusRefused")
	s.equal("warnings", len(notes), 1)
	if want := "the status is frozen"; !strings.HasPrefix(notes[0], "The API server refuses the new status, so the status stays as it is: ") || !strings.HasSuffix(notes[0], want) {
		t.Errorf("got %q, want the reason %q", notes[0], want)
	}
	s.equal("effective replicas in the status", *s.scaler().Status.EffectiveReplicas, int32(10))
	if facts := s.explained("status"); !slices.Contains(facts, "Kyklos has scaled the target, and the status follows in a minute or two: "+
		"if there is an event StatusRefused, the API server refuses it") {
		t.Errorf("explain says %q", facts)
	}
	if _, counted := s.metric("kyklos_scale_failures_total", "tws_name="+scalerName); counted {
		t.Error("counted as a failure to scale")
	}
}

// explained is what kyklos explain says about a topic.
func (s *scenario) explained(topic string) (texts []string) {
	s.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
	s.Must(err)
	reader, err := explaincluster.New(config)
	s.Must(err)
	tws := s.scaler()
	state, err := reader.State(s.Context(), tws)
	s.Must(err)
	for _, fact := range explain.Explain(tws, explain.Holidays{}, state, wall.Now()).Facts {
		if fact.Topic == topic {
			texts = append(texts, fact.Text)
		}
	}
	return texts
}
