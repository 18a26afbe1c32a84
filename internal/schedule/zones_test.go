package schedule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
)

// officeIn is nine to five in a zone.
func officeIn(zone string, replicas int32) v1beta1.Window {
	return v1beta1.Window{Name: "office", Timezone: zone, Days: weekdays, Start: "09:00", End: "17:00", Replicas: intstr.FromInt32(replicas)}
}

func TestWindowsOfOtherZones(t *testing.T) {
	reading := schedule.FromSpec(spec(func(s *v1beta1.TimeWindowScalerSpec) {
		s.Windows = []v1beta1.Window{officeIn("Europe/Berlin", 2), officeIn("", 1), officeIn("America/New_York", 4), officeIn("Asia/Kolkata", 8)}
		s.Windows[0].Name = "" // it looks like business hours
	}), field.NewPath("spec"))
	if errs := reading.Errors(); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	for utc, want := range map[string]struct {
		Replicas int32
		Label    string
	}{
		"2026-03-25 04:00": {8, "office"}, // 09:30 in Kolkata, where the last such window decides
		"2026-03-25 12:59": {2, "BusinessHours"},
		"2026-03-25 13:00": {4, "office"}, // 09:00 in New York, on summer time already
		"2026-03-25 15:59": {4, "office"}, // 16:59 in Berlin, not yet on summer time
		"2026-03-25 21:00": {2, "OffHours"},
		"2026-03-30 07:00": {8, "office"},        // 09:00 in Berlin, on summer time
		"2026-03-30 11:30": {2, "BusinessHours"}, // 17:00 in Kolkata
	} {
		at, err := time.Parse("2006-01-02 15:04", utc)
		if err != nil {
			t.Fatal(err)
		}
		verdict := reading.Calendar.At(at)
		if verdict.Replicas != want.Replicas || reading.Calendar.Label(verdict) != want.Label {
			t.Errorf("%s: %d replicas, %s; want %v", utc, verdict.Replicas, reading.Calendar.Label(verdict), want)
		}
	}
}

// Windows of one zone share its clock, and those that name the schedule's zone have none of their own.
func TestZonesAreLoadedOnce(t *testing.T) {
	reading := schedule.FromSpec(spec(func(s *v1beta1.TimeWindowScalerSpec) {
		s.Windows = []v1beta1.Window{officeIn("Europe/Berlin", 1), officeIn("Asia/Kolkata", 2), officeIn("Europe/Berlin", 4)}
	}), field.NewPath("spec"))
	windows := reading.Calendar.Windows
	if windows[0].Zone() == nil || windows[0].Zone() != windows[2].Zone() || windows[1].Zone() != nil {
		t.Errorf("zones %p, %p, %p", windows[0].Zone(), windows[1].Zone(), windows[2].Zone())
	}
}

// A window whose zone is unknown here is ignored; the others keep their indexes and apply (B5).
func TestAnUnknownZoneOfAWindow(t *testing.T) {
	reading := schedule.FromSpec(spec(func(s *v1beta1.TimeWindowScalerSpec) {
		s.Windows = []v1beta1.Window{officeIn("Mars/Olympus_Mons", 1), officeIn("", 2), officeIn("Mars/Olympus_Mons", 4), officeIn("Local", 8)}
	}), field.NewPath("spec"))
	var places []string
	for _, err := range reading.WindowZoneErrors {
		places = append(places, err.Field)
	}
	if diff := cmp.Diff([]string{"spec.windows[0].timezone", "spec.windows[2].timezone", "spec.windows[3].timezone"}, places); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if reading.ZoneError != nil || len(reading.WindowErrors) > 0 {
		t.Errorf("zone %v, windows %v", reading.ZoneError, reading.WindowErrors)
	}
	noon := time.Date(2025, 1, 27, 12, 0, 0, 0, reading.Calendar.Zone)
	if verdict := reading.Calendar.At(noon); verdict.Window != 1 || verdict.Replicas != 2 {
		t.Errorf("at noon window %d decides with %d replicas", verdict.Window, verdict.Replicas)
	}
	sunday := noon.AddDate(0, 0, -1)
	if verdict := reading.Calendar.At(sunday); verdict.Window != -1 {
		t.Errorf("on Sunday window %d decides", verdict.Window)
	}
}
