package timeline_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/timecalc"
)

// The next change that a status shows is the first one of preview's timeline that has an effect: whatever the
// windows, zones, holidays and grace periods, through any night in which a clock changes.
func TestTheNextChangeIsTheTimelines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		night := rapid.SampledFrom(nights).Draw(t, "night")
		spec := &v1beta1.TimeWindowScalerSpec{
			Timezone: night.zone, DefaultReplicas: intstr.FromInt32(rapid.Int32Range(0, 3).Draw(t, "default")),
			GracePeriodSeconds: rapid.SampledFrom([]int32{0, 60, 900, 3600, 30000, 86400}).Draw(t, "grace"),
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "windows") {
			spec.Windows = append(spec.Windows, anyWindow(t, i))
		}
		date, err := time.Parse(time.DateOnly, night.date)
		if err != nil {
			t.Fatal(err)
		}
		mode := rapid.SampledFrom([]v1beta1.HolidayMode{v1beta1.HolidayIgnore, v1beta1.HolidayClosed, v1beta1.HolidayOpen}).Draw(t, "mode")
		spec.Holidays = &v1beta1.Holidays{Mode: mode, SourceRef: &v1beta1.HolidaySource{Name: "h"}}
		var holidays []string
		for _, day := range rapid.SliceOfN(rapid.IntRange(-2, 3), 0, 3).Draw(t, "holidays") {
			holidays = append(holidays, date.AddDate(0, 0, day).Format(time.DateOnly))
		}
		now := date.Add(time.Duration(rapid.Int64Range(-30*3600, 30*3600).Draw(t, "seconds")) * time.Second)
		scaler, _ := read(t, spec, holidays)
		f := forecast(t, scaler, now)
		got, found := scaler.Calendar.NextChange(now, f)
		want, expected := firstEffect(timeline.Compute(scaler, now, now.AddDate(0, 0, 40)), f.Effective)
		if within := want.Time.Sub(now) <= 31*24*time.Hour; expected && !within {
			expected = false
		}
		if found != expected || found && (!got.Time.Equal(want.Time) || got.Replicas != want.Replicas || !got.Known) {
			t.Fatalf("%s %v, grace %d, holidays %v %s, at %v with %+v: got %+v %t, the timeline has %+v %t",
				spec.Timezone, spec.Windows, spec.GracePeriodSeconds, holidays, mode, now, f, got, found, want, expected)
		}
	})
}

// forecast is the state at now: as the schedule asks for, or in a grace period that keeps more.
func forecast(t *rapid.T, scaler *timeline.Scaler, now time.Time) timecalc.Forecast {
	f := timecalc.Forecast{
		Effective: scaler.Calendar.At(now).Replicas, GraceSeconds: scaler.Spec.GracePeriodSeconds,
		Count: func(v timecalc.Verdict) (int32, bool) { return v.Replicas, true },
	}
	if f.GraceSeconds > 0 && rapid.Bool().Draw(t, "in a grace period") {
		f.Effective += rapid.Int32Range(1, 3).Draw(t, "more")
		f.GraceExpiry = ptr.To(now.Add(time.Duration(rapid.Int32Range(1, f.GraceSeconds).Draw(t, "rest")) * time.Second))
		scaler.State = &v1beta1.TimeWindowScalerStatus{EffectiveReplicas: &f.Effective, GracePeriodExpiry: &metav1.Time{Time: *f.GraceExpiry}}
	}
	return f
}

// firstEffect is the first change of the count in force, from the transitions and their grace periods.
func firstEffect(tl *timeline.Timeline, effective int32) (timecalc.Change, bool) {
	grace := func(until time.Time, replicas int32) (timecalc.Change, bool) {
		return timecalc.Change{Time: until, Replicas: replicas, Known: true}, true
	}
	asked := tl.Segments[0].Replicas
	var expiry time.Time // of the grace period that runs
	if state := tl.Scaler.State; state != nil {
		expiry = state.GracePeriodExpiry.Time
	}
	for _, tr := range tl.Transitions {
		if !expiry.IsZero() && expiry.Before(tr.Time) {
			return grace(expiry, asked)
		}
		asked = tr.To
		switch {
		case !tr.GraceUntil.IsZero() && tr.GraceUntil.After(tr.Time):
			if tr.Kept != effective {
				return grace(tr.Time, tr.Kept)
			}
			expiry = tr.GraceUntil
			continue
		case tr.To != effective:
			return grace(tr.Time, tr.To)
		}
		expiry = time.Time{}
	}
	if !expiry.IsZero() {
		return grace(expiry, asked)
	}
	return timecalc.Change{}, false
}
