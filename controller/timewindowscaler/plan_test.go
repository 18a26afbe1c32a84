package timewindowscaler

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

func TestTheWindowDecides(t *testing.T) {
	for local, want := range map[string]struct {
		effective      int32
		window         string
		boundary, wake string
	}{
		"2025-01-27 08:59:59": {2, "OffHours", "2025-01-27 09:00:00", "2025-01-27 09:00:00"},
		"2025-01-27 09:00:00": {10, "BusinessHours", "2025-01-27 17:00:00", "2025-01-27 17:00:00"},
		"2025-01-27 16:59:59": {10, "BusinessHours", "2025-01-27 17:00:00", "2025-01-27 17:00:00"},
		"2025-01-27 17:00:00": {2, "OffHours", "2025-01-28 09:00:00", "2025-01-28 09:00:00"},
		"2025-01-31 18:00:00": {2, "OffHours", "2025-02-03 09:00:00", "2025-02-01 00:00:00"}, // Friday: none in 24 h (T5)
	} {
		p := plan(officeHours(), observation{}, ist(local))
		if p.effective != want.effective || p.window != want.window {
			t.Errorf("%s: %d replicas by %s, want %d by %s", local, p.effective, p.window, want.effective, want.window)
		}
		if !p.nextBoundary.Equal(ist(want.boundary)) || !p.wakeUp.Equal(ist(want.wake)) {
			t.Errorf("%s: next boundary %s and wake-up %s, want %s and %s", local, p.nextBoundary, p.wakeUp, want.boundary, want.wake)
		}
	}
}

// T5: the earliest of boundary, grace expiry and, where holidays count, midnight.
func TestWakeUp(t *testing.T) {
	for name, tc := range map[string]struct {
		now, want string
		change    func(*v1beta1.TimeWindowScaler)
	}{
		"boundary": {"2025-01-27 10:00:00", "2025-01-27 17:00:00", func(*v1beta1.TimeWindowScaler) {}},
		"midnight before the boundary, holidays count": {"2025-01-27 18:00:00", "2025-01-28 00:00:00", func(tws *v1beta1.TimeWindowScaler) {
			tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayOpen}
		}},
		"midnight matters not, holidays are ignored": {"2025-01-27 18:00:00", "2025-01-28 09:00:00", func(tws *v1beta1.TimeWindowScaler) {
			tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayIgnore}
		}},
		"grace expiry": {"2025-01-27 17:00:00", "2025-01-27 17:05:00", func(tws *v1beta1.TimeWindowScaler) {
			tws.Spec.GracePeriodSeconds, tws.Status.EffectiveReplicas, tws.Status.TargetUID = 300, ptr.To[int32](10), "d-1"
		}},
		"boundary before grace expiry": {"2025-01-27 17:00:00", "2025-01-28 09:00:00", func(tws *v1beta1.TimeWindowScaler) {
			tws.Spec.GracePeriodSeconds, tws.Status.EffectiveReplicas, tws.Status.TargetUID = 100_000, ptr.To[int32](10), "d-1"
		}},
	} {
		tws := officeHours()
		tc.change(tws)
		if got := plan(tws, observation{target: deployment(10, 10)}, ist(tc.now)).wakeUp; !got.Equal(ist(tc.want)) {
			t.Errorf("%s: %s, want %s", name, got.In(kolkata), tc.want)
		}
	}
}

// B3, B8, R10.
func TestWhenToWrite(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*v1beta1.TimeWindowScaler)
		obs    observation
		want   bool
	}{
		"differs":                        {nil, observation{target: deployment(2, 2)}, true},
		"equal":                          {nil, observation{target: deployment(10, 10)}, false},
		"equal, pods still to come":      {nil, observation{target: deployment(10, 2)}, false},
		"differs, pods happen to be ten": {nil, observation{target: deployment(2, 10)}, true},
		"no target":                      {nil, observation{}, false},
		"owned by another":               {nil, observation{target: deployment(2, 2), owner: "older"}, false},
		"paused":                         {func(tws *v1beta1.TimeWindowScaler) { tws.Spec.Pause = true }, observation{target: deployment(2, 2)}, false},
		"an HPA on the target":           {nil, observation{target: deployment(2, 2), autoscaler: "hpa"}, true},
	} {
		tws := officeHours()
		if tc.change != nil {
			tc.change(tws)
		}
		if got := plan(tws, tc.obs, ist("2025-01-27 10:00:00")); got.Write != tc.want || got.effective != 10 {
			t.Errorf("%s: write %v of %d, want %v of 10", name, got.Write, got.effective, tc.want)
		}
	}
}

// R3: the decision table. 2025-12-25 is a Thursday.
func TestHolidayTable(t *testing.T) {
	const within, outside = "2025-12-25 10:00:00", "2025-12-25 20:00:00"
	christmas := holidays{dates: map[string]bool{"2025-12-25": true}}
	type result struct {
		Replicas int32
		Window   string
	}
	for name, tc := range map[string]struct {
		mode v1beta1.HolidayMode
		h    holidays
		now  string
		want result
	}{
		"closed, in window":      {v1beta1.HolidayClosed, christmas, within, result{2, "OffHours"}},
		"closed, out of window":  {v1beta1.HolidayClosed, christmas, outside, result{2, "OffHours"}},
		"open, in window":        {v1beta1.HolidayOpen, christmas, within, result{10, "Holiday"}},
		"open, out of window":    {v1beta1.HolidayOpen, christmas, outside, result{10, "Holiday"}},
		"ignore, in window":      {v1beta1.HolidayIgnore, christmas, within, result{10, "BusinessHours"}},
		"ignore, out of window":  {v1beta1.HolidayIgnore, christmas, outside, result{2, "OffHours"}},
		"normal day, in window":  {v1beta1.HolidayClosed, holidays{}, within, result{10, "BusinessHours"}},
		"missing, in window":     {v1beta1.HolidayClosed, holidays{missing: "company-holidays"}, within, result{10, "BusinessHours"}},
		"missing, out of window": {v1beta1.HolidayOpen, holidays{missing: "company-holidays"}, outside, result{2, "OffHours"}},
	} {
		tws := officeHours()
		tws.Spec.Holidays = &v1beta1.Holidays{Mode: tc.mode}
		p := plan(tws, observation{holidays: tc.h}, ist(tc.now))
		if diff := cmp.Diff(tc.want, result{p.effective, p.window}); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// B6: dates are those of spec.timezone, and end with the local day.
func TestAHolidayLastsALocalDay(t *testing.T) {
	tws := officeHours()
	tws.Spec.Holidays = &v1beta1.Holidays{Mode: v1beta1.HolidayOpen}
	obs := observation{holidays: holidays{dates: map[string]bool{"2025-12-25": true}}}
	for local, want := range map[string]string{
		"2025-12-24 23:59:59": "OffHours",
		"2025-12-25 00:00:00": "Holiday", // 2025-12-24 18:30 UTC
		"2025-12-25 23:59:59": "Holiday",
		"2025-12-26 00:00:00": "OffHours",
	} {
		if got := plan(tws, obs, ist(local).UTC()).window; got != want {
			t.Errorf("%s: %s, want %s", local, got, want)
		}
	}
}

// due feeds the lateness metric: the boundary or grace expiry that a write is late by.
func TestDue(t *testing.T) {
	for name, tc := range map[string]struct {
		setUp func(*scenario)
		want  string
	}{
		"at the boundary":       {func(s *scenario) { s.pass("2025-01-27 08:00:00"); s.pass("2025-01-27 09:00:00") }, "2025-01-27 09:00:00"},
		"after many boundaries": {func(s *scenario) { s.pass("2025-01-27 08:00:00"); s.pass("2025-01-29 10:00:00") }, "2025-01-27 09:00:00"},
		"a grace expiry": {func(s *scenario) {
			s.tws.Spec.GracePeriodSeconds = 300
			for _, at := range []string{"2025-01-27 10:00:00", "2025-01-27 17:00:00", "2025-01-27 17:05:02"} {
				s.pass(at)
			}
		}, "2025-01-27 17:05:00"},
		"the first pass": {func(s *scenario) { s.pass("2025-01-27 09:00:00") }, ""},
		"drift": {func(s *scenario) {
			s.pass("2025-01-27 10:00:00")
			s.obs.target = deployment(15, 15)
			s.pass("2025-01-27 11:00:00")
		}, ""},
		"drift seen at a boundary that asks for no change": {func(s *scenario) {
			s.pass("2025-01-31 18:00:00")
			s.obs.target = deployment(15, 15)
			s.pass("2025-02-01 00:00:00")
		}, ""},
		"a spec edit": {func(s *scenario) {
			s.pass("2025-01-27 08:00:00")
			s.edit(func(spec *v1beta1.TimeWindowScalerSpec) { spec.DefaultReplicas = intstr.FromInt32(3) })
			s.pass("2025-01-27 18:00:00")
		}, ""},
		"a return of the target": {func(s *scenario) {
			s.obs.target = nil
			s.pass("2025-01-27 08:00:00")
			s.pass("2025-01-27 09:00:00")
			s.obs.target = deployment(1, 1)
			s.pass("2025-01-27 10:00:00")
		}, ""},
	} {
		s := newScenario(t, 2)
		tc.setUp(s)
		due := s.last.plan.due
		if got := due.In(kolkata).Format(time.DateTime); due.IsZero() && tc.want != "" || !due.IsZero() && got != tc.want {
			t.Errorf("%s: due %s, want %q", name, due, tc.want)
		}
	}
}
