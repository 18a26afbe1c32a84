package statuswriter_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/internal/statuswriter"
)

func states(ready statuswriter.State) statuswriter.States {
	return statuswriter.States{
		Ready:       ready,
		Reconciling: statuswriter.State{Status: "False", Reason: "Stable", Message: "m"},
		Degraded:    statuswriter.State{Status: "False", Reason: "OperationalNormal", Message: "m"},
	}
}

// R6: exactly three, in this order, for any previous conditions.
func TestExactlyThreeConditionsInOrder(t *testing.T) {
	before := []metav1.Condition{{Type: "Degraded"}, {Type: "Foreign"}, {Type: "Ready"}}
	for _, existing := range [][]metav1.Condition{nil, before} {
		var got []string
		for _, c := range statuswriter.BuildConditions(states(statuswriter.State{Status: "True", Reason: "R"}), existing, 7, metav1.NewTime(nine)) {
			got = append(got, c.Type)
			if c.ObservedGeneration != 7 {
				t.Errorf("%s is about generation %d", c.Type, c.ObservedGeneration)
			}
		}
		if diff := cmp.Diff([]string{"Ready", "Reconciling", "Degraded"}, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// R6: when a condition's time changes, and when not.
func TestTransitionTimes(t *testing.T) {
	was, now := metav1.NewTime(nine), metav1.NewTime(nine.Add(time.Hour))
	old := metav1.Condition{Type: "Ready", Status: "True", Reason: "Reconciled", Message: "old", LastTransitionTime: was, ObservedGeneration: 1}
	for name, tc := range map[string]struct {
		existing []metav1.Condition
		state    statuswriter.State
		want     metav1.Time
	}{
		"no existing conditions":       {nil, statuswriter.State{Status: "True", Reason: "Reconciled"}, now},
		"unchanged":                    {[]metav1.Condition{old}, statuswriter.State{Status: "True", Reason: "Reconciled", Message: "old"}, was},
		"message changed":              {[]metav1.Condition{old}, statuswriter.State{Status: "True", Reason: "Reconciled", Message: "new"}, was},
		"status changed":               {[]metav1.Condition{old}, statuswriter.State{Status: "False", Reason: "Reconciled", Message: "old"}, now},
		"reason changed":               {[]metav1.Condition{old}, statuswriter.State{Status: "True", Reason: "Other", Message: "old"}, now},
		"another type is no precedent": {[]metav1.Condition{{Type: "Foreign", Status: "True", Reason: "Reconciled", LastTransitionTime: was}}, statuswriter.State{Status: "True", Reason: "Reconciled"}, now},
	} {
		got := statuswriter.BuildConditions(states(tc.state), tc.existing, 2, now)[0]
		want := metav1.Condition{Type: "Ready", Status: tc.state.Status, Reason: tc.state.Reason, Message: tc.state.Message,
			ObservedGeneration: 2, LastTransitionTime: tc.want}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// The API server refuses a status over one condition's message above 32768.
func TestLongMessagesAreCutBetweenCharacters(t *testing.T) {
	for name, tc := range map[string]struct{ message, want string }{
		"just fits":        {strings.Repeat("a", 32768), strings.Repeat("a", 32768)},
		"one too many":     {strings.Repeat("a", 32769), strings.Repeat("a", 32765) + "..."},
		"two-byte letters": {strings.Repeat("é", 20000), strings.Repeat("é", 16382) + "..."},
	} {
		got := statuswriter.BuildConditions(states(statuswriter.State{Message: tc.message}), nil, 1, metav1.NewTime(nine))[0].Message
		if got != tc.want || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes, valid: %v", name, len(got), utf8.ValidString(got))
		}
	}
}
