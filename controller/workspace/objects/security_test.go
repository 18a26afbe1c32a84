package objects_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// TestEveryPodIsRestricted asks Kubernetes' own evaluator of the restricted Pod Security Standard, for anything a
// user can write in the spec.
func TestEveryPodIsRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	check := func(t *rapid.T, what string, about *metav1.ObjectMeta, spec *corev1.PodSpec) {
		if result := policy.AggregateCheckResults(evaluator.EvaluatePod(level, about, spec)); !result.Allowed {
			t.Errorf("%s: %s", what, result.ForbiddenDetail())
		}
		if spec.AutomountServiceAccountToken == nil || *spec.AutomountServiceAccountToken {
			t.Errorf("%s gets a token", what)
		}
		if grace := spec.TerminationGracePeriodSeconds; grace == nil || *grace < 1 {
			t.Errorf("%s may be deleted before its processes have ended: %v", what, grace)
		}
		if spec.PriorityClassName != "" || spec.HostNetwork || spec.EnableServiceLinks == nil || *spec.EnableServiceLinks {
			t.Errorf("%s: %+v", what, spec)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		ws := workspaces(t)
		pod, err := objects.Pod(ws, action(lifecycle.ActCreatePod))
		if err != nil {
			t.Fatal(err)
		}
		objects.AddWatcher(pod, ws, "kyklos:1", objects.DefaultWatcherResources())
		objects.AddHomeCheck(pod, "kyklos:1", objects.DefaultWatcherResources())
		check(t, "the workspace", &pod.ObjectMeta, &pod.Spec)
		for _, operation := range []lifecycle.OperationType{lifecycle.Archiving, lifecycle.Restoring} {
			template := objects.Job(ws, action(lifecycle.ActCreateJob), move(operation)).Spec.Template
			check(t, string(operation), &template.ObjectMeta, &template.Spec)
			if root := template.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem; root == nil || !*root {
				t.Errorf("%s may write to its image", operation)
			}
			if where := template.Spec.NodeSelector["zone"]; where != pod.Spec.NodeSelector["zone"] {
				t.Errorf("%s could make the volume where the workspace cannot go: %q", operation, where)
			}
		}
	})
}

// TestNamesAndLabelsFit holds for every name that the CRD allows, and attempts of two digits.
func TestNamesAndLabelsFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ws := workspaces(t)
		act := action(lifecycle.ActCreateJob)
		act.Attempt = rapid.Int32Range(1, 99).Draw(t, "attempt")
		act.Name = lifecycle.JobName(ws.Name, act.OperationID, act.Attempt)
		pod, err := objects.Pod(ws, act)
		if err != nil {
			t.Fatal(err)
		}
		volume, err := objects.Volume(ws, act)
		if err != nil {
			t.Fatal(err)
		}
		ticket, err := objects.Ticket(ws, act, archive.Ticket{})
		if err != nil {
			t.Fatal(err)
		}
		job := objects.Job(ws, act, move(lifecycle.Archiving))
		for _, object := range []metav1.Object{pod, volume, ticket, job} {
			if wrong := validation.IsDNS1123Label(object.GetName()); len(wrong) > 0 { // a Pod's hostname, a label's value
				t.Errorf("%s: %v", object.GetName(), wrong)
			}
			if object.GetNamespace() != ws.Namespace {
				t.Errorf("%s is in namespace %s", object.GetName(), object.GetNamespace())
			}
			for name, value := range object.GetLabels() {
				if wrong := append(validation.IsQualifiedName(name), validation.IsValidLabelValue(value)...); len(wrong) > 0 {
					t.Errorf("%s: %s=%s: %v", object.GetName(), name, value, wrong)
				}
			}
		}
	})
}
