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

// asks writes the desired state as manager does: a user, or an idle timer.
func (s *scenario) asks(manager string, desired v1alpha1.DesiredState) {
	s.Helper()
	before := s.getWorkspace()
	after := before.DeepCopy()
	after.Spec.DesiredState = desired
	s.Must(admin.Patch(s.Context(), after, client.MergeFrom(before), client.FieldOwner(manager)))
}

// arrives says that the Workspace is as it is wanted.
func (s *scenario) arrives() {
	s.Helper()
	before := s.getWorkspace()
	after := before.DeepCopy()
	after.Status.Phase, after.Status.ObservedGeneration = v1alpha1.Phase(after.Spec.DesiredState), after.Generation
	meta.SetStatusCondition(&after.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Converged"})
	s.Must(admin.Status().Patch(s.Context(), after, client.MergeFrom(before)))
}

// asked waits until the schedule has spoken of an edge, and the Workspace is to be in the state.
func (s *scenario) asked(edge string, desired v1alpha1.DesiredState) {
	s.Helper()
	s.Until("the edge of "+edge+" and "+string(desired), func() bool {
		applied := s.scaler().Status.Applied
		return applied != nil && applied.Edge != nil && applied.Edge.In(kolkata(s)).Format(time.DateTime) == edge && s.getWorkspace().Spec.DesiredState == desired
	})
}

// says waits for the message of Ready.
func (s *scenario) says(message string) {
	s.Helper()
	s.Until("Ready: "+message, func() bool {
		ready := meta.FindStatusCondition(s.scaler().Status.Conditions, v1beta1.ConditionReady)
		return ready != nil && ready.Message == message
	})
}

// stays moves the clock, waits until the scaler was looked at by it, and checks that the state is as it was.
func (s *scenario) stays(localTime string, desired v1alpha1.DesiredState) {
	s.Helper()
	before := s.passes(scalerName)
	s.clock(localTime)
	s.Until("a look at "+localTime, func() bool { return s.passes(scalerName) > before })
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

// A week of a Workspace: the schedule speaks at its edges, a user and the idle timers in between.
func TestWorkspace(t *testing.T) {
	s := newScenario(t, "2025-01-27 08:59:00")
	s.workspace(v1alpha1.DesiredStandby)
	s.officeHours(drivesWorkspace)
	s.asked("2025-01-24 17:00:00", v1alpha1.DesiredStandby)
	s.clock("2025-01-27 09:00:00")
	s.asked("2025-01-27 09:00:00", v1alpha1.DesiredRunning)
	s.equal("who decided", s.decider(), target.ScheduleManager)
	s.hears("ScaledUp", "Workspace set from STANDBY to RUNNING (window: BusinessHours)")
	s.says("Target is not RUNNING yet, see its own conditions (window: BusinessHours)")
	s.arrives()
	s.says("Target is RUNNING as desired (window: BusinessHours)")
	s.equal("observed", ptr.Deref(s.scaler().Status.TargetObservedReplicas, -1), int32(1))

	s.asks("kubectl", v1alpha1.DesiredStandby)
	s.says("Target stays in STANDBY because another user or controller set it; the next window boundary decides again (window: BusinessHours)")
	s.stays("2025-01-27 16:59:00", v1alpha1.DesiredStandby)
	s.asks("kubectl", v1alpha1.DesiredRunning)
	s.clock("2025-01-27 17:00:00")
	s.asked("2025-01-27 17:00:00", v1alpha1.DesiredStandby)
	s.hears("ScaledDown", "Workspace set from RUNNING to STANDBY (window: OffHours)")
	s.arrives()

	// At night the idle timer archives the home, and the morning fetches it back, although it was missed.
	s.asks("kyklos-ttl", v1alpha1.DesiredPending)
	s.says("Target stays in PENDING because another user or controller set it; the next window boundary decides again (window: OffHours)")
	s.stays("2025-01-28 08:00:00", v1alpha1.DesiredPending)
	s.clock("2025-01-29 10:00:00")
	s.asked("2025-01-29 09:00:00", v1alpha1.DesiredRunning)
	s.hears("ScaledUp", "Workspace set from STANDBY to RUNNING (window: BusinessHours)", "Workspace set from PENDING to RUNNING (window: BusinessHours)")

	// In the window it lies idle and is stopped, and stays so.
	s.asks("kyklos-ttl", v1alpha1.DesiredStandby)
	s.stays("2025-01-29 12:00:00", v1alpha1.DesiredStandby)
	s.equal("who decided", s.decider(), "kyklos-ttl")

	s.asks("kubectl", v1alpha1.DesiredRunning)
	s.Must(admin.Delete(t.Context(), s.scaler()))
	s.equal("without a schedule", s.getWorkspace().Spec.DesiredState, v1alpha1.DesiredRunning)
}

// Enforced, whoever writes is set right, however often; and a pause keeps the schedule from it.
func TestWorkspaceEnforced(t *testing.T) {
	s := newScenario(t, "2025-01-27 10:00:00")
	s.officeHours(drivesWorkspace, func(tws *v1beta1.TimeWindowScaler) {
		tws.Spec.Workspace = &v1beta1.WorkspaceDrive{Enforce: true}
	})
	s.hears("MissingTarget", "Target Workspace "+s.namespace+"/webapp not found")
	s.workspace(v1alpha1.DesiredPending)
	s.asked("2025-01-27 09:00:00", v1alpha1.DesiredRunning)
	for range 4 {
		s.asks("kubectl", v1alpha1.DesiredStandby)
		s.Until("the correction", func() bool { return s.getWorkspace().Spec.DesiredState == v1alpha1.DesiredRunning })
	}
	s.hears("FieldFight")
	s.arrives()
	s.says("Target is RUNNING as desired (window: BusinessHours)")
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = true })
	s.asks("kubectl", v1alpha1.DesiredStandby)
	s.hears("ScalingSkipped", "Scaling skipped due to pause: current=STANDBY, desired=RUNNING")
	s.equal("while paused", s.getWorkspace().Spec.DesiredState, v1alpha1.DesiredStandby)
}
