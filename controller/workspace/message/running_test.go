package message_test

import (
	"slices"
	"strings"
	"testing"

	"kyklos.io/kyklos/internal/lifecycle"
)

// limited are situations in which the owner's running workspaces are named.
func limited() (all []situation) {
	for _, names := range [][]string{nil, {"bea"}, {"dan", "bea"}, {"d", "c", "b", "e"}} {
		all = append(all, situation{
			name: "the limit, with " + strings.Join(names, " "), before: status(lifecycle.Standby, lifecycle.None), code: lifecycle.CodeOwnerLimit, running: names,
		})
	}
	return all
}

// The message about the limit does not depend on the order of the running workspaces, and has a command for one of them.
func TestRunningWorkspaces(t *testing.T) {
	for _, s := range limited() {
		message := s.facts().Conditions(eight)[0].Message
		s.running = slices.Clone(s.running)
		slices.Reverse(s.running)
		if again := s.facts().Conditions(eight)[0].Message; again != message {
			t.Errorf("%s, in another order: %s", message, again)
		}
		stops := func(name string) bool { return strings.Contains(message, "-n team "+name+" --type=merge") }
		if len(s.running) > 0 && !slices.ContainsFunc(s.running, stops) {
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
