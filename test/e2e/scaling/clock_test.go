package scaling

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// Any number of missed boundaries leads to one write of the right value (B1).
func TestManyBoundariesMissed(t *testing.T) {
	s := newScenario(t, "2025-01-27 20:00:00")
	s.target(2)
	s.officeHours()
	s.settles(2)
	s.clock("2025-07-01 12:00:00") // a Tuesday, 222 boundaries later
	s.settles(10)
	s.awaitEvents("ScaledUp", "Scaled up from 2 to 10 replicas (window: BusinessHours)")
	s.awaitEvents("ScaledDown")
	s.measures(1, "kyklos_scale_events_total", "direction=up")
}

// When the clock is set back, the replicas of that time return.
func TestClockSetBack(t *testing.T) {
	s := newScenario(t, "2025-01-27 09:30:00")
	s.target(2)
	s.officeHours()
	s.settles(10)
	s.clock("2025-01-27 08:30:00")
	s.settles(2)
	s.clock("2025-01-27 09:30:00")
	s.settles(10)
}

// A grace period never lasts longer than its length, even if the clock is set back after its end was recorded.
func TestGracePeriodAfterClockSetBack(t *testing.T) {
	s := newScenario(t, "2025-01-27 16:59:00")
	s.target(10)
	s.officeHours(withGrace(60))
	s.settles(10)
	s.clock("2025-01-28 17:00:00")
	s.measures(1, "kyklos_in_grace_period")
	s.clock("2025-01-27 20:00:00")
	s.Until("an expiry on the 27th", func() bool {
		expiry := s.scaler().Status.GracePeriodExpiry
		return expiry != nil && expiry.In(kolkata(t)).Day() == 27
	})
	s.clock("2025-01-27 20:01:05")
	s.settles(2)
}

// The boundary wakes the controller by a timer, not by a step of the clock.
func TestBoundaryWakesByItself(t *testing.T) {
	s := newScenario(t, "2025-01-27 08:59:00")
	s.target(2)
	s.officeHours()
	s.settles(2)
	s.clock("2025-01-27 08:59:56")
	s.settles(10)
}

// A holiday ends at local midnight inside a night window, although no window starts or ends there.
func TestHolidayEndsInsideANightWindow(t *testing.T) {
	s := newScenario(t, "2025-12-25 23:00:00")
	s.target(2)
	s.holidays("2025-12-25")
	s.officeHours(withHolidays(v1beta1.HolidayClosed), func(tws *v1beta1.TimeWindowScaler) {
		tws.Spec.Windows = []v1beta1.Window{{Days: []v1beta1.Weekday{"Thu"}, Start: "22:00", End: "06:00", Replicas: intstr.FromInt32(4)}}
	})
	s.settles(2)
	s.clock("2025-12-25 23:59:56")
	s.settles(4)
	s.clock("2025-12-26 06:00:00")
	s.settles(2)
}
