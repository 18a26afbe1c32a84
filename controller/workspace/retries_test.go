package workspace

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// expectRetries reconciles until six attempts have failed, and checks that it goes on, and says why: with the reason, the code and
// parts of the message (W71).
func (w *world) expectRetries(reason v1alpha1.FailureReason, code lifecycle.Code, parts ...string) {
	w.Helper()
	for range 2000 {
		_ = w.pass()
		w.nodes()
		w.clock.SetTime(w.clock.Now().Add(max(w.wait.Truncate(time.Second), time.Second)))
		if w.workspace().Status.Operation.Attempt > 6 {
			break
		}
	}
	status := w.workspace().Status
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if status.Phase == v1alpha1.PhaseError || status.Operation.Attempt < 7 || status.Error == nil || status.Error.Reason != reason || status.Error.Code != string(code) {
		w.Fatalf("the workspace is %s in %+v with %+v, want a seventh attempt after %s, %s", status.Phase, status.Operation, status.Error, reason, code)
	}
	for _, part := range parts {
		if ready.Reason != string(code) || !strings.Contains(ready.Message, part) || !strings.Contains(status.Error.Message, part) {
			w.Errorf("Ready %s %q, and the message %q: there is no %q", ready.Reason, ready.Message, status.Error.Message, part)
		}
	}
}
