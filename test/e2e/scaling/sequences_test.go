package scaling

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// R12 (2025-01-27 is the Monday).
func TestScaleUpEnteringTheWindow(t *testing.T) {
	s := newScenario(t, "2025-01-27 08:59:00")
	s.target(2)
	s.officeHours()
	s.settles(2)
	s.equal("window before", s.scaler().Status.CurrentWindow, "OffHours")

	s.clock("2025-01-27 09:00:00")
	s.settles(10)
	s.awaitEvents("ScaledUp", "Scaled up from 2 to 10 replicas (window: BusinessHours)")
	status := s.scaler().Status
	s.equal("window", status.CurrentWindow, "BusinessHours")
	s.equal("next boundary", status.NextBoundary.In(kolkata(t)).Format(time.DateTime), "2025-01-27 17:00:00")
	s.equal("scaled on the day", status.LastScaleTime.In(kolkata(t)).Format("2006-01-02 15:04"), "2025-01-27 09:00")
	s.condition("Ready", "True", v1beta1.ReasonReconciled)
	s.condition("Reconciling", "False", v1beta1.ReasonStable)
	s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
	s.measures(10, "kyklos_effective_replicas", "tws_name="+scalerName, "window=BusinessHours")
	s.measures(1, "kyklos_scale_events_total", "direction=up")
	if _, found := s.metric("kyklos_effective_replicas", "window=OffHours"); found {
		t.Error("the old window's series is still there")
	}
	ownsOnlyReplicas(s)
}

// ownsOnlyReplicas checks that Kyklos wrote through /scale and owns spec.replicas alone (B9).
func ownsOnlyReplicas(s *scenario) {
	s.Helper()
	for _, entry := range s.deployment().ManagedFields {
		if entry.Manager != target.FieldManager {
			continue
		}
		s.equal("subresource", entry.Subresource, "scale")
		s.equal("fields", entry.FieldsV1.GetRawString(), `{"f:spec":{"f:replicas":{}}}`)
		return
	}
	s.Errorf("%s owns nothing of the target", target.FieldManager)
}

// R9.
func TestScaleDownWithGracePeriod(t *testing.T) {
	s := newScenario(t, "2025-01-27 16:59:00")
	s.target(10)
	s.officeHours(withGrace(300))
	s.settles(10)

	s.clock("2025-01-27 17:00:00")
	s.awaitEvents("GracePeriodStarted", "Grace period started: 300s before scaling to 2 replicas")
	s.measures(1, "kyklos_in_grace_period")
	status := s.scaler().Status
	s.equal("kept", *status.EffectiveReplicas, int32(10))
	expiry, earliest := status.GracePeriodExpiry.In(kolkata(t)), time.Date(2025, 1, 27, 17, 5, 0, 0, kolkata(t))
	if latest := wall.Now().Add(301 * time.Second); expiry.Before(earliest) || expiry.After(latest) {
		t.Errorf("expiry %s, want 300 s after a pass since 17:00:00, rounded up", expiry)
	}
	s.equal("target kept", *s.deployment().Spec.Replicas, int32(10))

	s.clock(expiry.Add(time.Second).Format(time.DateTime))
	s.settles(2)
	s.awaitEvents("ScaledDown", "Scaled down from 10 to 2 replicas after 300s grace period")
	if after := s.scaler().Status.GracePeriodExpiry; after != nil {
		t.Errorf("expiry still %s", after)
	}
	s.measures(2, "kyklos_effective_replicas", "window=OffHours")
	s.measuresNothing("kyklos_in_grace_period")
	s.measures(1, "kyklos_scale_events_total", "direction=down")
}

// The end of a grace period is a wake-up of its own: no watch event and no clock step helps here.
func TestGracePeriodEndsByItself(t *testing.T) {
	s := newScenario(t, "2025-01-27 16:59:00")
	s.target(10)
	s.officeHours(withGrace(3))
	s.settles(10)
	s.clock("2025-01-27 17:00:00")
	s.settles(2)
	s.awaitEvents("ScaledDown", "Scaled down from 10 to 2 replicas after 3s grace period")
}

func TestScaleUpCancelsGracePeriod(t *testing.T) {
	s := newScenario(t, "2025-01-27 16:59:00")
	s.target(10)
	s.officeHours(withGrace(300))
	s.settles(10)
	s.clock("2025-01-27 17:00:00")
	s.measures(1, "kyklos_in_grace_period")
	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DefaultReplicas = intstr.FromInt32(10) })
	s.awaitEvents("GracePeriodCancelled", "Grace period cancelled: 10 replicas are desired again")
	s.settles(10)
	s.awaitEvents("ScaledDown")
}

// R8.
func TestManualDriftIsCorrected(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(10)
	s.officeHours()
	s.settles(10)

	s.userScales(15)
	s.awaitEvents("ScaledDown", "Corrected manual drift: scaled down from 15 to 10 replicas (window: BusinessHours)")
	s.settles(10)
	s.measures(1, "kyklos_manual_drift_corrections_total")
	if s.scaler().Status.LastScaleTime == nil {
		t.Error("no lastScaleTime")
	}
	s.userScales(3)
	s.awaitEvents("ScaledUp", "Corrected manual drift: scaled up from 3 to 10 replicas (window: BusinessHours)")
	s.settles(10)
}

// R13: a Thursday.
func TestHolidayTreatedAsClosed(t *testing.T) {
	s := newScenario(t, "2025-12-25 08:00:00")
	s.target(10)
	s.holidays("2025-12-25")
	s.officeHours(withHolidays(v1beta1.HolidayClosed), func(tws *v1beta1.TimeWindowScaler) { tws.Spec.DefaultReplicas = intstr.FromInt32(0) })

	s.settles(0)
	s.awaitEvents("HolidayDetected", "Holiday detected for 2025-12-25 (mode: treat-as-closed)")
	s.awaitEvents("WindowOverride", "Holiday 2025-12-25: treating as closed, using 0 replicas")
	s.awaitEvents("ScaledDown", "Scaled down from 10 to 0 replicas (holiday: treat-as-closed)")
	s.clock("2025-12-25 10:00:00")
	s.measures(1, "kyklos_holiday_override_active")
	s.settles(0)
	s.equal("window", s.scaler().Status.CurrentWindow, "OffHours")
	s.equal("holiday", s.scaler().Status.Holiday, "2025-12-25")

	s.clock("2025-12-26 10:00:00")
	s.settles(10)
	s.equal("window after", s.scaler().Status.CurrentWindow, "BusinessHours")
	s.measuresNothing("kyklos_holiday_override_active")
	s.awaitEvents("HolidayDetected", "Holiday detected for 2025-12-25 (mode: treat-as-closed)") // once
}

func TestHolidayTreatedAsOpen(t *testing.T) {
	s := newScenario(t, "2025-12-25 07:00:00")
	s.target(2)
	s.officeHours(withHolidays(v1beta1.HolidayOpen))
	s.condition("Degraded", "True", v1beta1.ReasonHolidaySourceMissing)
	s.settles(2)

	s.holidays("2025-12-25", "Christmas")
	s.settles(10)
	s.awaitEvents("WindowOverride", "Holiday 2025-12-25: treating as open, using 10 replicas")
	s.awaitEvents("ScaledUp", "Scaled up from 2 to 10 replicas (holiday: treat-as-open)")
	s.equal("window", s.scaler().Status.CurrentWindow, "Holiday")
	message := s.condition("Degraded", "False", v1beta1.ReasonOperationalNormal)
	s.equal("message", message, "The spec is fully applied, but these holiday keys are not yyyy-mm-dd dates: Christmas")
}

// R10.
func TestPauseLeavesTheTargetAlone(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(5)
	s.officeHours(func(tws *v1beta1.TimeWindowScaler) { tws.Spec.Pause = true })

	s.awaitEvents("ScalingSkipped", "Scaling skipped due to pause: current=5, desired=10")
	message := s.condition("Ready", "False", v1beta1.ReasonTargetMismatch)
	s.Until("the message with the observed count", func() bool {
		message = s.condition("Ready", "False", v1beta1.ReasonTargetMismatch)
		return message == "Target has 5 replicas but desired is 10 (pause=true)"
	})
	s.equal("effective", *s.scaler().Status.EffectiveReplicas, int32(10))
	s.measures(1, "kyklos_pause_active")
	s.measures(5, "kyklos_replica_drift")
	s.equal("target", *s.deployment().Spec.Replicas, int32(5))

	s.change(func(spec *v1beta1.TimeWindowScalerSpec) { spec.Pause = false })
	s.settles(10)
	s.awaitEvents("ScaledUp", "Scaled up from 5 to 10 replicas (window: BusinessHours)") // the end of a pause is not drift
	s.measuresNothing("kyklos_pause_active")
}

// R11.
func TestTargetMissingAndRecreated(t *testing.T) {
	s := newScenario(t, "2025-01-27 14:00:00")
	s.target(10)
	s.officeHours()
	s.settles(10)

	s.Must(admin.Delete(s.Context(), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: targetName}},
		client.PropagationPolicy(metav1.DeletePropagationBackground)))
	message := s.condition("Ready", "False", v1beta1.ReasonTargetNotFound)
	s.equal("message", message, "Target Deployment "+s.namespace+"/webapp not found; create it, correct spec.targetRef, or delete this TimeWindowScaler if it is not needed any more")
	s.awaitEvents("MissingTarget", "Target Deployment "+s.namespace+"/webapp not found; create it, correct spec.targetRef, or delete this TimeWindowScaler if it is not needed any more")
	if observed := s.scaler().Status.TargetObservedReplicas; observed != nil {
		t.Errorf("observed %d of a target that is gone", *observed)
	}

	s.target(1)
	s.settles(10)
	s.awaitEvents("ScaledUp", "Scaled up from 1 to 10 replicas (window: BusinessHours)")
	s.equal("effective", ptr.Deref(s.scaler().Status.EffectiveReplicas, -1), int32(10))
}
