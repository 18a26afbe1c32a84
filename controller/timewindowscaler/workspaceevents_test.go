package timewindowscaler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// W83: the events on the Workspace name the schedule, before it stops the Workspace and when it does.
func TestEventsOnAWorkspace(t *testing.T) {
	d, messages := newWorkspaceScenario(lifecycle.Standby), newTranscript(t)
	var noticed time.Time
	expect := func(at string, want ...string) *passResult {
		t.Helper()
		s := d.pass(utc(at), false)
		var got []string
		for _, ev := range s.workspaceEvents(&noticed) {
			got = append(got, ev.Reason)
			messages.add(ev.Reason + ": " + ev.Note)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", at, diff)
		}
		return s
	}
	s := expect("2026-03-02 10:00", "SetBySchedule")
	if due := s.noticeDue(); !due.Equal(utc("2026-03-02 16:45")) {
		t.Errorf("the notice is due at %v", due)
	}
	expect("2026-03-02 16:44")
	if s := expect("2026-03-02 16:45", "StopScheduled"); !s.noticeDue().IsZero() {
		t.Errorf("the notice is due again at %v", s.noticeDue())
	}
	expect("2026-03-02 16:50")
	d.use(true)
	expect("2026-03-02 17:00", "StopWaits")
	expect("2026-03-02 17:30")
	d.use(false)
	expect("2026-03-02 18:00", "SetBySchedule")
	d.tws.Spec.Workspace = &v1beta1.WorkspaceDrive{StopWhileInUse: true}
	expect("2026-03-03 16:50", "SetBySchedule", "StopScheduled") // it was missed, and ends soon
	expect("2026-03-03 16:55")
	d.setState(lifecycle.Standby)
	if s := expect("2026-03-04 08:00"); !s.noticeDue().IsZero() {
		t.Errorf("a notice is due at %v for what does not run", s.noticeDue())
	}
}
