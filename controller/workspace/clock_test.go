package workspace

import (
	"os"
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// A clock that is set back must not make a Workspace wait until the earlier time.
func TestAClockIsSetBack(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	w.update(os.Rename(w.bucket, w.bucket+".away"))
	w.desire(v1alpha1.DesiredPending)
	for range 20 {
		_ = w.pass()
		w.clock.SetTime(w.clock.Now().Add(time.Second))
	}
	if o := w.workspace().Status.Operation; o.NextRetryAt == nil {
		t.Fatalf("it waits for no retry: %+v", o)
	}
	w.update(os.Rename(w.bucket+".away", w.bucket))
	w.clock.SetTime(w.clock.Now().Add(-24 * time.Hour))
	for begun := w.clock.Now(); w.clock.Now().Sub(begun) < 15*time.Minute; w.clock.SetTime(w.clock.Now().Add(lifecycle.Poll / 4)) {
		_ = w.pass()
		w.nodes()
	}
	w.expectState("ARCHIVED")
}
