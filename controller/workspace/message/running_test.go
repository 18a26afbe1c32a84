package message_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/lifecycle"
)

// otherWorkspaces are workspaces in the given order, as NAMESPACE/NAME.
func otherWorkspaces(names ...string) (all []types.NamespacedName) {
	for _, each := range names {
		namespace, name, _ := strings.Cut(each, "/")
		all = append(all, types.NamespacedName{Namespace: namespace, Name: name})
	}
	return all
}

// limited are situations in which the owner's running workspaces are named.
func limited() (all []situation) {
	for _, names := range [][]string{
		nil, {"team/bea"}, {"team/dan", "team/bea"}, {"team/dan", "art/abe", "team/bea"}, {"shop/ann", "art/bob"},
		{"team/d", "team/c", "team/b", "team/e", "art/abe"},
	} {
		all = append(all, situation{
			name: "the limit, with " + strings.Join(names, " "), before: status(lifecycle.Standby, lifecycle.None), code: lifecycle.CodeOwnerLimit, running: otherWorkspaces(names...),
		})
	}
	return all
}

// The message about the limit does not depend on the order of the running workspaces, has a command for one of them in this
// namespace, and no name from another namespace.
func TestRunningWorkspaces(t *testing.T) {
	for _, s := range limited() {
		message := s.facts().Conditions(eight)[0].Message
		slices.Reverse(s.running)
		if again := s.facts().Conditions(eight)[0].Message; again != message {
			t.Errorf("%s, in another order: %s", message, again)
		}
		own := false
		for _, running := range s.running {
			if running.Namespace == "team" {
				own = own || strings.Contains(message, "-n team "+running.Name+" --type=merge")
			} else if strings.Contains(message, running.Name) {
				t.Errorf("%s: names %s", message, running)
			}
		}
		if foreign := len(s.running) > 0 && !strings.Contains(s.name, "team/"); len(s.running) > 0 && own == foreign {
			t.Errorf("%v: %s", s.running, message)
		}
	}
}

// A user who has just set RUNNING gets an event if that is not possible now.
func TestEventAfterANewSpec(t *testing.T) {
	facts := situation{before: status(lifecycle.Standby, lifecycle.None), code: lifecycle.CodeOwnerLimit}.facts()
	facts.Decision.Status.ObservedGeneration++
	if got := facts.Events(); len(got) != 1 || got[0].Reason != "OwnerLimitExceeded" {
		t.Errorf("%+v", got)
	}
}
