package schedule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
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

// On an open holiday a window whose zone is unknown here does not count; without any other, defaultReplicas apply (B5).
func TestAnUnknownZoneOnAnOpenHoliday(t *testing.T) {
	reading := schedule.FromSpec(spec(func(s *v1beta1.TimeWindowScalerSpec) {
		s.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayOpen}
		s.Windows = []v1beta1.Window{officeIn("Mars/Olympus_Mons", 8)}
	}), field.NewPath("spec"))
	reading.Calendar.Holidays = map[string]bool{"2025-01-27": true}
	noon := time.Date(2025, 1, 27, 12, 0, 0, 0, reading.Calendar.Zone)
	if verdict := reading.Calendar.At(noon); verdict.Replicas != 2 || !verdict.Override {
		t.Errorf("%+v, want 2 replicas by the holiday", verdict)
	}
}

// A schedule with windows whose zones are unknown here asks for what it would ask for without them (B5), at any time
// and in any holiday mode.
func TestWindowsOfUnknownZonesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := spec(func(s *v1beta1.TimeWindowScalerSpec) {
			mode := rapid.SampledFrom([]v1beta1.HolidayMode{v1beta1.HolidayIgnore, v1beta1.HolidayClosed, v1beta1.HolidayOpen}).Draw(t, "mode")
			s.Holidays = &v1beta1.Holidays{Mode: mode}
			s.Windows = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) v1beta1.Window {
				zone := rapid.SampledFrom([]string{"", "Europe/Berlin", "Mars/Olympus_Mons", "Mars/Tharsis"}).Draw(t, "zone")
				return officeIn(zone, rapid.Int32Range(0, 20).Draw(t, "replicas"))
			}), 1, 4).Draw(t, "windows")
		})
		known := all.DeepCopy()
		known.Windows = nil
		for _, w := range all.Windows {
			if w.Timezone == "" || w.Timezone == "Europe/Berlin" {
				known.Windows = append(known.Windows, w)
			}
		}
		at := time.Unix(rapid.Int64Range(1_737_936_000, 1_738_540_800).Draw(t, "time"), 0) // a week of January 2025
		want, got := verdictOf(known, at), verdictOf(all, at)
		if want.Replicas != got.Replicas || want.Override != got.Override || want.Holiday != got.Holiday {
			t.Errorf("%s: %+v, want %+v", at.UTC(), got, want)
		}
	})
}

func verdictOf(spec *v1beta1.TimeWindowScalerSpec, at time.Time) timecalc.Verdict {
	reading := schedule.FromSpec(spec, field.NewPath("spec"))
	reading.Calendar.Holidays = map[string]bool{"2025-01-28": true, "2025-01-30": true}
	return reading.Calendar.At(at)
}
