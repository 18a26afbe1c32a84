package contention

import (
	"testing"
	"time"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// A metric changes the count within its window. That does not start another occurrence.
func TestAFightInAWindowWithAMetric(t *testing.T) {
	occurs := func(replicas int32, byMetric bool) occurrence {
		f := Decide(Input{
			Scaler: &v1beta1.TimeWindowScaler{}, Target: &target.Replicated{}, Window: "peak",
			Desired: target.Desired{Replicas: replicas}, ByMetric: byMetric,
		}, time.Now())
		return f.occurrence
	}
	if a, b, other := occurs(4, true), occurs(5, true), occurs(5, false); a != b || a == other {
		t.Errorf("%+v, %+v, without a metric %+v", a, b, other)
	}
}
