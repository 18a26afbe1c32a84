package statuswriter

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1beta1"
)

// State is what one condition should say. A message carries no relative time and nothing that
// changes while the reason stays, so that it never flaps (B4).
type State struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

// maxMessage is the API server's bound for a message. Whole status writes would fail over a longer one.
const maxMessage = 32768

// States are the three conditions that every status carries.
type States struct {
	Ready, Reconciling, Degraded State
}

// BuildConditions returns exactly three conditions in the order Ready, Reconciling, Degraded.
// A condition's lastTransitionTime becomes now if its status or reason differs from existing's,
// and stays otherwise (R6).
func BuildConditions(states States, existing []metav1.Condition, generation int64, now metav1.Time) []metav1.Condition {
	named := []struct {
		kind  string
		state State
	}{
		{v1beta1.ConditionReady, states.Ready},
		{v1beta1.ConditionReconciling, states.Reconciling},
		{v1beta1.ConditionDegraded, states.Degraded},
	}
	conditions := make([]metav1.Condition, len(named))
	for i, n := range named {
		conditions[i] = metav1.Condition{
			Type:               n.kind,
			Status:             n.state.Status,
			Reason:             n.state.Reason,
			Message:            fit(n.state.Message),
			ObservedGeneration: generation,
			LastTransitionTime: since(n.kind, n.state, existing, now),
		}
	}
	return conditions
}

func since(kind string, state State, existing []metav1.Condition, now metav1.Time) metav1.Time {
	for i := range existing {
		c := &existing[i]
		if c.Type == kind && c.Status == state.Status && c.Reason == state.Reason {
			return c.LastTransitionTime
		}
	}
	return now
}

func fit(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage-len("...")], "") + "..."
}
