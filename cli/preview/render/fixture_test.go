package render_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/cli/preview/timeline"
	"kyklos.io/kyklos/internal/schedule"
	"kyklos.io/kyklos/internal/timecalc"
)

var daily = []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// shop is a schedule with everything that there is to show: windows with and without names, one in another zone, one with a
// metric, a grace period and holidays.
func shop() *v1beta1.TimeWindowScalerSpec {
	return &v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{APIVersion: "apps/v1", Kind: "Deployment", Name: "shop"}, Timezone: "Europe/Berlin",
		DefaultReplicas: intstr.FromInt32(1), GracePeriodSeconds: 5400,
		Windows: []v1beta1.Window{
			{Days: daily[:5], Start: "08:00", End: "18:00", Replicas: intstr.FromInt32(12)},
			{Name: "nights", Days: daily, Start: "22:00", End: "02:30", Replicas: intstr.FromInt32(3), Metric: &v1beta1.WindowMetric{
				Name: "queue", MaxReplicas: 9, MinReplicas: ptr.To[int32](2), Target: v1beta1.MetricTarget{Type: v1beta1.MetricValue, Value: "1"},
			}},
			{Name: "tokyo", Days: daily[6:], Start: "10:00", End: "11:00", Timezone: "Asia/Tokyo", Replicas: intstr.FromInt32(5)},
		},
		Holidays: &v1beta1.Holidays{Mode: v1beta1.HolidayClosed, SourceRef: &v1beta1.HolidaySource{Name: "days-off"}},
	}
}

// compute is the timeline of a schedule whose holidays are some dates.
func compute(t testing.TB, name string, spec *v1beta1.TimeWindowScalerSpec, from, until string, holidays ...string) *timeline.Timeline {
	t.Helper()
	reading := schedule.FromSpec(spec, field.NewPath("spec"))
	if errs := reading.Errors(); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	reading.Calendar.Holidays, _ = timecalc.ParseHolidayDates(holidays)
	return timeline.Compute(&timeline.Scaler{Namespace: "stores", Name: name, Spec: spec, Calendar: reading.Calendar}, instant(t, from), instant(t, until))
}

func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// spring is the shop in the days around the night of 2027-03-28, in which Berlin's clock skips an hour, with a holiday on the day after.
func spring(t testing.TB) *timeline.Timeline {
	return compute(t, "shop", shop(), "2027-03-27T00:00:00+01:00", "2027-03-31T00:00:00+02:00", "2027-03-29")
}

// inCluster is the shop in spring, as a cluster has it.
func inCluster(t testing.TB) *timeline.Timeline {
	made, expiry := spring(t), metav1.NewTime(instant(t, "2027-03-27T03:00:00Z"))
	made.Scaler.State = &v1beta1.TimeWindowScalerStatus{
		EffectiveReplicas: ptr.To[int32](3), TargetObservedReplicas: ptr.To[int32](2), CurrentWindow: "nights", Holiday: "2027-03-27", GracePeriodExpiry: &expiry,
	}
	return made
}
