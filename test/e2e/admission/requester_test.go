package admission

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// A schedule needs an author who may scale the target, whatever its kind and the version of the write. The message names the missing verb, and a
// role with that verb is all that is missing.
func TestTheAuthorMayScaleTheTarget(t *testing.T) {
	s := newScenario(t)
	s.grant("deployer", "create,patch,get", "timewindowscalers.kyklos.io")
	author := s.as("deployer")
	for kind, tc := range map[string]struct{ apiVersion, lacks string }{
		"Deployment":            {"apps/v1", "deployments.apps/scale"},
		"DaemonSet":             {"apps/v1", "daemonsets.apps"},
		"Workspace":             {"kyklos.io/v1alpha1", "workspaces.kyklos.io"},
		"ReplicationController": {"v1", "replicationcontrollers/scale"},
	} {
		create := func() error {
			return author.Create(s.Context(), newScaler(s.namespace, strings.ToLower(kind), tc.apiVersion, kind), client.DryRunAll)
		}
		err := create()
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `spec.targetRef.name: Forbidden: user "deployer" may not scale `+kind) ||
			!strings.Contains(err.Error(), "missing is the verb patch on "+tc.lacks+" in namespace "+s.namespace) {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		_, command, _ := strings.Cut(err.Error(), "create a role for it with: kubectl ")
		s.Kubectl("", strings.Fields(command)...)
		s.Kubectl("", "create", "rolebinding", "scale-web", "-n", s.namespace, "--role=scale-web", "--user=deployer")
		s.Eventually(kind+" with the role", create)
		s.Kubectl("", "delete", "-n", s.namespace, "role/scale-web", "rolebinding/scale-web")
	}
}

// The version of the write does not matter.
func TestTheAuthorOfV1alpha1MayScaleTheTarget(t *testing.T) {
	s := newScenario(t)
	s.grant("deployer", "create,patch,get", "timewindowscalers.kyklos.io")
	old := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "kyklos.io/v1alpha1", "kind": "TimeWindowScaler", "spec": map[string]any{
		"targetRef": map[string]any{"kind": "Deployment", "name": "web"}, "timezone": "UTC",
		"windows": []any{map[string]any{"days": []any{"Mon"}, "start": "09:00", "end": "17:00", "replicas": int64(1)}},
	}}}
	old.SetNamespace(s.namespace)
	old.SetName("old")
	if err := s.as("deployer").Create(s.Context(), old.DeepCopy(), client.DryRunAll); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "missing is the verb patch on deployments.apps/scale") {
		t.Errorf("got %v", err)
	}
	s.grant("deployer", "patch", "deployments.apps")
	s.Eventually("with the right to write Deployments", func() error {
		return s.as("deployer").Create(s.Context(), old.DeepCopy(), client.DryRunAll)
	})
}

// A change of the schedule needs the right too, for otherwise the schedule of an admin would scale for everybody who may edit it. What
// changes nothing about it needs none, and a GitOps tool with the role edit has all that it needs.
func TestEditsOfASchedule(t *testing.T) {
	s := newScenario(t)
	s.Must(s.Client.Create(s.Context(), newScaler(s.namespace, "night", "apps/v1", "Deployment")))
	s.grant("editor", "patch,get", "timewindowscalers.kyklos.io")
	s.Kubectl("", "create", "rolebinding", "gitops", "-n", s.namespace, "--clusterrole=edit", "--user=system:serviceaccount:argocd:argocd-application-controller")
	edit := func(user, patch string) error {
		obj := &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "night"}}
		return s.as(user).Patch(s.Context(), obj, client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	for _, patch := range []string{`{"spec":{"defaultReplicas":3}}`, `{"spec":{"targetRef":{"name":"api"}}}`, `{"spec":{"pause":true}}`} {
		if err := edit("editor", patch); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `user "editor" may not scale Deployment`) {
			t.Errorf("%s: %v", patch, err)
		}
	}
	if err := edit("editor", `{"metadata":{"labels":{"team":"shop"}}}`); err != nil {
		t.Errorf("a label: %v", err)
	}
	s.Eventually("a GitOps tool", func() error {
		return edit("system:serviceaccount:argocd:argocd-application-controller", `{"spec":{"defaultReplicas":4}}`)
	})
	got := &v1beta1.TimeWindowScaler{}
	s.Get(s.namespace, "night", got)
	if got.Spec.DefaultReplicas != intstr.FromInt32(4) || got.Spec.TargetRef.Name != "web" {
		t.Errorf("got %+v", got.Spec)
	}
}

// With --check-requester=false whoever may write schedules may scale.
func TestSchedulesCanBeThePermission(t *testing.T) {
	const user = `{"username":"eve","groups":["system:authenticated"]}`
	if _, answer := post(t, open, scalers, invented("TimeWindowScaler", "v1beta1", "kube-system", "kube-system", spec, user)); !allowed(t, answer) {
		t.Error(answer)
	}
}
