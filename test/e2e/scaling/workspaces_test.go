package scaling

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// Nothing serves Workspaces here: the tests write their status.

func (s *scenario) workspace(desired v1alpha1.DesiredState) {
	s.Helper()
	_, _, err := cluster.Kubectl(s.Context(), fmt.Sprintf(
		"{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: %s}, spec: {image: ide, desiredState: %s}}", targetName, desired),
		"create", "-n", s.namespace, "-f", "-")
	s.Must(err)
}

func (s *scenario) getWorkspace() *v1alpha1.Workspace {
	s.Helper()
	ws := &v1alpha1.Workspace{}
	s.Get(s.namespace, targetName, ws)
	return ws
}

// setDesired writes the desired state as the manager of that name: a user, or an idle timer.
func (s *scenario) setDesired(manager string, desired v1alpha1.DesiredState) {
	s.Helper()
	before := s.getWorkspace()
	after := before.DeepCopy()
	after.Spec.DesiredState = desired
	s.Must(admin.Patch(s.Context(), after, client.MergeFrom(before), client.FieldOwner(manager)))
}

// reachDesired reports the desired state in the Workspace's status.
func (s *scenario) reachDesired() {
	s.Helper()
	before := s.getWorkspace()
	after := before.DeepCopy()
	after.Status.Phase, after.Status.ObservedGeneration = v1alpha1.Phase(after.Spec.DesiredState), after.Generation
	meta.SetStatusCondition(&after.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Converged"})
	s.Must(admin.Status().Patch(s.Context(), after, client.MergeFrom(before)))
}

// awaitEdge waits until the schedule has applied the edge and set the desired state.
func (s *scenario) awaitEdge(edge string, desired v1alpha1.DesiredState) {
	s.Helper()
	s.Until("the edge of "+edge+" and "+string(desired), func() bool {
		applied := s.scaler().Status.Applied
		return applied != nil && applied.Edge != nil && applied.Edge.In(kolkata(s)).Format(time.DateTime) == edge && s.getWorkspace().Spec.DesiredState == desired
	})
}

// awaitReady waits for the message of Ready.
func (s *scenario) awaitReady(message string) {
	s.Helper()
	s.Until("Ready: "+message, func() bool {
		ready := meta.FindStatusCondition(s.scaler().Status.Conditions, v1beta1.ConditionReady)
		return ready != nil && ready.Message == message
	})
}

// expectDesiredAt moves the clock, waits for a pass of the scaler, and checks the desired state.
func (s *scenario) expectDesiredAt(localTime string, desired v1alpha1.DesiredState) {
	s.Helper()
	before := s.passes()
	s.clock(localTime)
	s.Until("a pass at "+localTime, func() bool { return s.passes() > before })
	s.equal("desired state at "+localTime, s.getWorkspace().Spec.DesiredState, desired)
}

// decider is the manager that owns the desired state.
func (s *scenario) decider() string {
	s.Helper()
	for _, entry := range s.getWorkspace().ManagedFields {
		if entry.FieldsV1 != nil && strings.Contains(string(entry.FieldsV1.GetRawBytes()), `"f:desiredState"`) {
			return entry.Manager
		}
	}
	return ""
}

func drivesWorkspace(tws *v1beta1.TimeWindowScaler) {
	scales("kyklos.io/v1alpha1", "Workspace")(tws)
	tws.Spec.DefaultReplicas, tws.Spec.Windows[0].Replicas = intstr.FromInt32(0), intstr.FromInt32(1)
}

// A week of a Workspace: the schedule acts at its edges, a user and the idle timers in between.
func TestWorkspace(t *testing.T) {
	s := newScenario(t, "2025-01-27 08:59:00")
	s.workspace(v1alpha1.DesiredStandby)
	s.officeHours(drivesWorkspace)
	s.awaitEdge("2025-01-24 17:00:00", v1alpha1.DesiredStandby)
	s.clock("2025-01-27 09:00:00")
	s.awaitEdge("2025-01-27 09:00:00", v1alpha1.DesiredRunning)
	s.equal("field manager", s.decider(), target.ScheduleManager)
	s.awaitEvents("ScaledUp", "Workspace set from STANDBY to RUNNING (window: BusinessHours)")
	s.awaitReady("Target is not RUNNING yet, see its own conditions (window: BusinessHours)")
	s.reachDesired()
	s.awaitReady("Target is RUNNING as desired (window: BusinessHours)")
	s.equal("observed", ptr.Deref(s.scaler().Status.TargetObservedReplicas, -1), int32(1))

	s.setDesired("kubectl", v1alpha1.DesiredStandby)
	s.awaitReady("Target stays in STANDBY because another user or controller set it; the next window boundary decides again (window: BusinessHours)")
	s.expectDesiredAt("2025-01-27 16:59:00", v1alpha1.DesiredStandby)
	s.setDesired("kubectl", v1alpha1.DesiredRunning)
	s.clock("2025-01-27 17:00:00")
	s.awaitEdge("2025-01-27 17:00:00", v1alpha1.DesiredStandby)
	s.awaitEvents("ScaledDown", "Workspace set from RUNNING to STANDBY (window: OffHours)")
	s.reachDesired()

	// At night the idle timer archives the home, and the morning fetches it back, although it was missed.
	s.setDesired("kyklos-ttl", v1alpha1.DesiredPending)
	s.awaitReady("Target stays in PENDING because another user or controller set it; the next window boundary decides again (window: OffHours)")
	s.expectDesiredAt("2025-01-28 08:00:00", v1alpha1.DesiredPending)
	s.clock("2025-01-29 10:00:00")
	s.awaitEdge("2025-01-29 09:00:00", v1alpha1.DesiredRunning)
	s.awaitEvents("ScaledUp", "Workspace set from STANDBY to RUNNING (window: BusinessHours)", "Workspace set from PENDING to RUNNING (window: BusinessHours)")

	// In the window it is idle and is stopped, and stays stopped.
	s.setDesired("kyklos-ttl", v1alpha1.DesiredStandby)
	s.expectDesiredAt("2025-01-29 12:00:00", v1alpha1.DesiredStandby)
	s.equal("field manager", s.decider(), "kyklos-ttl")

	s.setDesired("kubectl", v1alpha1.DesiredRunning)
	s.Must(admin.Delete(t.Context(), s.scaler()))
	s.equal("without a schedule", s.getWorkspace().Spec.DesiredState, v1alpha1.DesiredRunning)
}

// With Enforce, every other write is corrected, however often, except during a pause.
func TestWorkspaceEnforced(t *testing.T) {
	s := newScenario(t, "2025-01-27 10:00:00")
	s.officeHours(drivesWorkspace, func(tws *v1beta1.TimeWindowScaler) {
		tws.Spec.DriftPolicy = v1beta1.DriftEnforce
	})
	s.awaitEvents("MissingTarget", "Target Workspace "+s.namespace+"/webapp not found")
	s.workspace(v1alpha1.DesiredPending)
	s.awaitEdge("2025-01-27 09:00:00", v1alpha1.DesiredRunning)
	for range 4 {
		s.setDesired("kubectl", v1alpha1.DesiredStandby)
		s.Until("the correction", func() bool { return s.getWorkspace().Spec.DesiredState == v1alpha1.DesiredRunning })
	}
	s.awaitEvents("FieldFight")
	s.reachDesired()
	s.awaitReady("Target is RUNNING as desired (window: BusinessHours)")
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
	s.setDesired("kubectl", v1alpha1.DesiredStandby)
	s.awaitEvents("ScalingSkipped", "Scaling skipped due to pause: current=STANDBY, desired=RUNNING")
	s.equal("while paused", s.getWorkspace().Spec.DesiredState, v1alpha1.DesiredStandby)
}
