package message_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Anyone with access to /status can write ERROR without a cause. The conditions then show that, with the command to retry.
func TestErrorWithoutACause(t *testing.T) {
	for name, failure := range map[string]lifecycle.Failure{
		"nothing recorded": {},
		"a reason alone":   {Reason: lifecycle.DataLost},
	} {
		s := situation{name: name, before: lifecycle.Status{Phase: lifecycle.Failed, Error: failure}}
		status := s.facts().Status(eight)
		ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
		const want = "The state is ERROR, and its cause is not recorded. Kyklos does nothing until the spec changes or a retry is requested: "
		if ready == nil || len(ready.Message) < len(want) || ready.Message[:len(want)] != want {
			t.Errorf("%s: got %+v, want a message that begins with %q", name, ready, want)
		}
	}
}
