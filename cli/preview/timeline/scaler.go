package timeline

import (
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/timecalc"
)

// Scaler is a TimeWindowScaler as a timeline needs it.
type Scaler struct {
	Namespace, Name string
	// Spec is what the Calendar was read from.
	Spec     *v1beta1.TimeWindowScalerSpec
	Calendar timecalc.Calendar
	// HolidaysMissing says that the schedule follows holidays whose ConfigMap was not to be found: its dates are taken
	// for ordinary days.
	HolidaysMissing bool
	// HolidaysUnread says why whoever asks may not read that ConfigMap, "" if they may. All dates are taken for ordinary days but the one
	// that the State names.
	HolidaysUnread string
	// State is the status of the object in a cluster, nil if it is from a file.
	State *v1beta1.TimeWindowScalerStatus
}

// holidaysCount reports whether listed dates matter. In the mode ignore they do not.
func (s *Scaler) holidaysCount() bool {
	mode := s.Calendar.HolidayMode
	return mode == timecalc.HolidayClosed || mode == timecalc.HolidayOpen
}

// Grace is how long a lower count waits.
func (s *Scaler) Grace() time.Duration { return time.Duration(s.Spec.GracePeriodSeconds) * time.Second }
