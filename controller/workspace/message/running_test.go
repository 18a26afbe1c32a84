package message_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/internal/lifecycle"
)

// fellows are workspaces in the given order, by NAMESPACE/NAME.
func fellows(names ...string) (all []types.NamespacedName) {
	for _, each := range names {
		namespace, name, _ := strings.Cut(each, "/")
		all = append(all, types.NamespacedName{Namespace: namespace, Name: name})
	}
	return all
}

// TestTheRunningAreNamed: in whatever order they are found, the same is said, and the command is for one of them. Of other
// namespaces no name is told.
func TestTheRunningAreNamed(t *testing.T) {
	for _, test := range []struct {
		running         []types.NamespacedName
		named, stopping string
	}{
		{nil, "may not have more. This", "`kubectl patch workspace -n team NAME --type=merge"},
		{fellows("team/bea"), "more: bea. This", "`kubectl patch workspace -n team bea --type=merge"},
		{fellows("team/dan", "team/bea"), "more: bea, dan. This", "-n team bea "},
		{fellows("team/dan", "art/abe", "team/bea"), "more: bea, dan, 1 in other namespaces. This", "-n team bea "},
		{fellows("shop/ann", "art/bob"), "more: 2 in other namespaces. This", "Stop one of them, in its namespace."},
		{fellows("team/d", "team/c", "team/b", "team/e", "art/abe"), "more: b, c, d and 1 more, 1 in other namespaces. This", "-n team b "},
	} {
		facts := situation{before: status(lifecycle.Standby, lifecycle.None), word: lifecycle.CodeOwnerLimit}.facts()
		facts.Running = test.running
		said := ready(facts)
		if !strings.Contains(said, test.named) || !strings.Contains(said, test.stopping) {
			t.Errorf("%v: %s", test.running, said)
		}
	}
}

// TestNewsComesWithANewSpec: whoever has just asked for RUNNING is told that it is not possible now.
func TestNewsComesWithANewSpec(t *testing.T) {
	facts := situation{before: status(lifecycle.Standby, lifecycle.None), word: lifecycle.CodeOwnerLimit}.facts()
	facts.Decision.Status.ObservedGeneration++
	if told := facts.Events(); len(told) != 1 || told[0].Reason != "OwnerLimitExceeded" {
		t.Errorf("%+v", told)
	}
}

// ready is the message of Ready.
func ready(facts message.Facts) string { return facts.Conditions(eight)[0].Message }
