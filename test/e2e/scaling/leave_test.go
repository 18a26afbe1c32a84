package scaling

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// uses reports activity in the Workspace's status, as of a local time.
func (s *scenario) uses(localTime string) {
	s.Helper()
	before := s.getWorkspace()
	after := before.DeepCopy()
	after.Status.LastActivityTime = ptr.To(metav1.NewTime(s.local(localTime)))
	s.Must(admin.Status().Patch(s.Context(), after, client.MergeFrom(before)))
}

// startedByOthers is when the schedule saw that somebody else had started the Workspace.
func (s *scenario) startedByOthers() time.Time {
	s.Helper()
	if applied := s.scaler().Status.Applied; applied != nil {
		return ptr.Deref(applied.StartedByOthers, metav1.Time{}).Time
	}
	return time.Time{}
}

// unused reports that nobody has used the Workspace since it was first watched.
func (s *scenario) unused(localTime string) {
	s.Helper()
	before := s.getWorkspace()
	after := before.DeepCopy()
	after.Status.UnusedSince = ptr.To(metav1.NewTime(s.local(localTime)))
	s.Must(admin.Status().Patch(s.Context(), after, client.MergeFrom(before)))
}

// archivedOn lets the week end: the schedule stops the Workspace, and a day later it is archived.
func (s *scenario) archivedOn(friday, saturday string) {
	s.Helper()
	s.clock(saturday + " 17:00:00")
	s.awaitEdge(friday+" 17:00:00", v1alpha1.DesiredStandby)
	s.setDesired("kyklos-ttl", v1alpha1.DesiredPending)
	s.reachDesired()
}

// W109: nobody ever comes. For a week the schedule starts the Workspace nevertheless, and then no longer: its own starts are no use.
func TestNobodyEverComes(t *testing.T) {
	s := newScenario(t, "2025-01-03 08:00:00")
	s.workspace(v1alpha1.DesiredStandby)
	s.officeHours(drivesWorkspace)
	s.clock("2025-01-03 09:00:00")
	s.awaitEdge("2025-01-03 09:00:00", v1alpha1.DesiredRunning)
	s.unused("2025-01-03 09:00:00")
	s.archivedOn("2025-01-03", "2025-01-04")
	s.clock("2025-01-06 09:00:00")
	s.awaitEdge("2025-01-06 09:00:00", v1alpha1.DesiredRunning)
	s.archivedOn("2025-01-10", "2025-01-11")
	s.clock("2025-01-13 09:00:00")
	s.awaitEdge("2025-01-13 09:00:00", v1alpha1.DesiredPending)
	s.awaitReady("Target stays archived, because it was not used since 2025-01-03T03:30:00Z, for more than 7 days (spec.workspace.keepArchivedAfterDays); " +
		"to restore it, set spec.desiredState of the Workspace to RUNNING, and the schedule starts it again (window: BusinessHours)")
}

// W95, W96: somebody is on leave for two weeks. The first Monday fetches the home back, because nobody knows yet; the other two leave
// it archived, and say so. Who comes back starts it by hand, and from then on the schedule does again.
func TestOnLeave(t *testing.T) {
	s := newScenario(t, "2025-01-03 08:00:00")
	s.workspace(v1alpha1.DesiredStandby)
	s.officeHours(drivesWorkspace)
	s.clock("2025-01-03 09:00:00")
	s.awaitEdge("2025-01-03 09:00:00", v1alpha1.DesiredRunning)
	s.uses("2025-01-03 16:00:00")
	s.archivedOn("2025-01-03", "2025-01-04")

	s.clock("2025-01-06 09:00:00")
	s.awaitEdge("2025-01-06 09:00:00", v1alpha1.DesiredRunning)
	s.equal("a start by a schedule is no use", s.startedByOthers(), time.Time{})
	s.archivedOn("2025-01-10", "2025-01-11")

	const because = "stays archived, because it was not used since 2025-01-03T10:30:00Z, for more than 7 days (spec.workspace.keepArchivedAfterDays); " +
		"to restore it, set spec.desiredState of the Workspace to RUNNING, and the schedule starts it again (window: BusinessHours)"
	for _, monday := range []string{"2025-01-13", "2025-01-20"} {
		s.clock(monday + " 09:00:00")
		s.awaitEdge(monday+" 09:00:00", v1alpha1.DesiredPending)
		s.awaitReady("Target " + because)
		s.equal("who decided last", s.decider(), "kyklos-ttl")
	}
	s.awaitLastEvent("KeptArchived", "Workspace "+because)

	s.setDesired("kubectl", v1alpha1.DesiredRunning)
	s.Until("the start is noted", func() bool { return !s.startedByOthers().IsZero() })
	s.archivedOn("2025-01-24", "2025-01-25")
	s.clock("2025-01-27 09:00:00")
	s.awaitEdge("2025-01-27 09:00:00", v1alpha1.DesiredRunning)
	s.equal("who decided last", s.decider(), "kyklos-schedule")
}
