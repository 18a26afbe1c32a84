package workspace

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// Workspaces that name somebody else as their owner use up the limits of their own namespace only.
func TestForgedOwner(t *testing.T) {
	victim := newScenario(t)
	evil := &fixtures.Workspaces{T: victim.T, Namespace: victim.NewNamespace("evil-"), Store: victim.Store}
	m := victim.StartManager(harness.ManagerOptions{Args: append(victim.ManagerArgs(), "--namespaces="+evil.Namespace, "--workspace-limit-per-namespace=3")})
	victim.AwaitReady(m)
	create := func(s *fixtures.Workspaces, name, owner string) {
		ws := s.NewWorkspace(name, "/bin/sleep", "100000")
		ws.Spec.Owner, ws.Spec.Archive = owner, nil
		s.Must(s.Client.Create(s.Context(), ws))
	}
	await := func(s *fixtures.Workspaces, name, reason string) string {
		s.Helper()
		message := ""
		s.Eventually(reason+" of "+name, func() error {
			var ws v1alpha1.Workspace
			s.Must(s.Client.Get(s.Context(), client.ObjectKey{Namespace: s.Namespace, Name: name}, &ws))
			ready := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionReady)
			if ready == nil || ready.Reason != reason {
				return fmt.Errorf("the condition Ready is %+v", ready)
			}
			message = ready.Message
			return nil
		})
		return message
	}
	for _, name := range []string{"one", "two"} {
		create(evil, name, victim.Namespace)
		await(evil, name, v1alpha1.ReasonConverged)
	}
	create(evil, "three", victim.Namespace)
	await(evil, "three", v1alpha1.ReasonOwnerLimitExceeded)
	create(victim.Workspaces, fixtures.WorkspaceName, "")
	await(victim.Workspaces, fixtures.WorkspaceName, v1alpha1.ReasonConverged)

	// Any number of owners does not help.
	create(evil, "four", "somebody")
	await(evil, "four", v1alpha1.ReasonConverged)
	create(evil, "five", "somebody-else")
	said := await(evil, "five", v1alpha1.ReasonNamespaceLimitExceeded)
	if want := "Namespace " + evil.Namespace + " has reached the limit of 3 running workspaces"; !strings.HasPrefix(said, want) {
		t.Errorf("got %q, want %q", said, want)
	}
}
