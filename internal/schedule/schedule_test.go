package schedule_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/schedule"
)

var weekdays = []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri"}

func spec(change func(*v1beta1.TimeWindowScalerSpec)) *v1beta1.TimeWindowScalerSpec {
	s := &v1beta1.TimeWindowScalerSpec{
		Timezone:        "Asia/Kolkata",
		DefaultReplicas: intstr.FromInt32(2),
		Windows:         []v1beta1.Window{{Days: weekdays, Start: "09:00", End: "17:00", Replicas: intstr.FromInt32(10)}},
	}
	change(s)
	return s
}

func TestAReadableSpec(t *testing.T) {
	reading := schedule.FromSpec(spec(func(s *v1beta1.TimeWindowScalerSpec) {
		s.Windows = append(s.Windows, v1beta1.Window{Days: []v1beta1.Weekday{"Mon"}, Start: "16:00", End: "18:00", Replicas: intstr.FromInt32(4)})
	}), field.NewPath("spec"))
	if errs := reading.Errors(); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	kolkata := reading.Calendar.Zone
	for local, want := range map[string]int32{
		"2025-01-27 08:59": 2,
		"2025-01-27 09:00": 10,
		"2025-01-27 16:30": 4, // the last window decides
		"2025-01-27 18:00": 2,
		"2025-01-26 10:00": 2, // a Sunday
	} {
		at, err := time.ParseInLocation("2006-01-02 15:04", local, kolkata)
		if err != nil {
			t.Fatal(err)
		}
		if got := reading.Calendar.At(at.UTC()).Replicas; got != want {
			t.Errorf("%s in Kolkata: %d replicas, want %d", local, got, want)
		}
	}
}

func TestHolidayMode(t *testing.T) {
	for name, tc := range map[string]struct {
		holidays *v1beta1.Holidays
		want     string
	}{
		"no holidays": {nil, "ignore"},
		"no mode":     {&v1beta1.Holidays{}, "ignore"},
		"closed":      {&v1beta1.Holidays{Mode: v1beta1.HolidayClosed}, "treat-as-closed"},
		"open":        {&v1beta1.Holidays{Mode: v1beta1.HolidayOpen}, "treat-as-open"},
	} {
		reading := schedule.FromSpec(spec(func(s *v1beta1.TimeWindowScalerSpec) { s.Holidays = tc.holidays }), field.NewPath("spec"))
		if got := reading.Calendar.HolidayMode; got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// mistake is an error in a spec without its wording.
type mistake struct {
	Type  field.ErrorType
	Field string
	Value any
}

func mistakeOf(err *field.Error) mistake { return mistake{err.Type, err.Field, err.BadValue} }

// Every mistake is reported, with the field's path and its value.
func TestMistakesNameTheirFields(t *testing.T) {
	const invalid = field.ErrorTypeInvalid
	for name, tc := range map[string]struct {
		change func(*v1beta1.TimeWindowScalerSpec)
		want   []mistake
	}{
		"zone":          {func(s *v1beta1.TimeWindowScalerSpec) { s.Timezone = "Mars/Olympus_Mons" }, []mistake{{invalid, "spec.timezone", "Mars/Olympus_Mons"}}},
		"start and end": {func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].End = "09:00" }, []mistake{{invalid, "spec.windows[0].end", "09:00"}}},
		"start":         {func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Start = "9:00" }, []mistake{{invalid, "spec.windows[0].start", "9:00"}}},
		"replicas":      {func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Replicas = intstr.FromInt32(-1) }, []mistake{{invalid, "spec.windows[0].replicas", int32(-1)}}},
		"days": {func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Days = []v1beta1.Weekday{"Mon", "Funday"} },
			[]mistake{{invalid, "spec.windows[0].days[1]", []v1beta1.Weekday{"Mon", "Funday"}}}},
		"no days": {func(s *v1beta1.TimeWindowScalerSpec) { s.Windows[0].Days = nil }, []mistake{{invalid, "spec.windows[0].days", []v1beta1.Weekday(nil)}}},
		"several, the zone first": {func(s *v1beta1.TimeWindowScalerSpec) {
			s.Timezone = ""
			s.Windows = append(s.Windows, v1beta1.Window{Days: weekdays, Start: "x", End: "y", Replicas: intstr.FromInt32(1)})
		}, []mistake{{invalid, "spec.timezone", ""}, {invalid, "spec.windows[1].start", "x"}, {invalid, "spec.windows[1].end", "y"}}},
	} {
		reading := schedule.FromSpec(spec(tc.change), field.NewPath("spec"))
		var got []mistake
		for _, err := range reading.Errors() {
			got = append(got, mistakeOf(err))
			if err.Detail == "" {
				t.Errorf("%s: %s does not say what would be right", name, err.Field)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// Zone and windows fail separately, because their fallbacks differ (B5).
func TestAnUnknownZoneLeavesTheWindowsReadable(t *testing.T) {
	reading := schedule.FromSpec(spec(func(s *v1beta1.TimeWindowScalerSpec) { s.Timezone = "Local" }), field.NewPath("spec"))
	if reading.ZoneError == nil || len(reading.WindowErrors) > 0 || len(reading.Calendar.Windows) != 1 {
		t.Errorf("zone error %v, window errors %v, %d windows", reading.ZoneError, reading.WindowErrors, len(reading.Calendar.Windows))
	}
}

func TestNamespaceError(t *testing.T) {
	messages := golden.NewMessages(t)
	for name, tc := range map[string]struct {
		own, named string
		wrong      bool
	}{
		"left out":  {"shop", "", false},
		"the own":   {"shop", "shop", false},
		"in a file": {"", "shop", false},
		"another's": {"shop", "back", true},
	} {
		tws := &v1beta1.TimeWindowScaler{}
		tws.Namespace, tws.Spec.TargetRef.Namespace = tc.own, tc.named
		err := schedule.NamespaceError(tws, field.NewPath("spec", "targetRef"))
		if (err != nil) != tc.wrong {
			t.Fatalf("%s: %v", name, err)
		}
		if err == nil {
			continue
		}
		if diff := cmp.Diff(mistake{field.ErrorTypeInvalid, "spec.targetRef.namespace", tc.named}, mistakeOf(err)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		messages.Add(name, err.Detail)
	}
}
