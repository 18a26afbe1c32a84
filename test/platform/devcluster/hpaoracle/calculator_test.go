// Package hpaoracle_test asks the HorizontalPodAutoscaler's own calculator what it makes of an external
// metric and keeps the answers in a file, which Kyklos's calculator is tested against without linking
// k8s.io/kubernetes.
package hpaoracle_test

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
)

// tolerance is the default of kube-controller-manager's --horizontal-pod-autoscaler-tolerance.
const tolerance = 0.1

// tolerances makes the calculator's own type, whose fields have no exported way in; String shows whether
// they arrived.
func tolerances(down, up float64) (podautoscaler.Tolerances, error) {
	raw := [2]float64{down, up}
	var out podautoscaler.Tolerances
	if unsafe.Sizeof(out) != unsafe.Sizeof(raw) {
		return out, fmt.Errorf("podautoscaler.Tolerances has changed: it takes %d bytes", unsafe.Sizeof(out))
	}
	out = *(*podautoscaler.Tolerances)(unsafe.Pointer(&raw))
	if want := fmt.Sprintf("[down:%.1f%%, up:%.1f%%]", down*100, up*100); out.String() != want {
		return out, fmt.Errorf("podautoscaler.Tolerances has changed: it reads %s, want %s", out, want)
	}
	return out, nil
}

// reading is a metrics client that knows one external metric of one value, in thousandths.
type reading struct {
	metrics.MetricsClient
	milli int64
}

func (r reading) GetExternalMetric(string, string, labels.Selector) ([]int64, time.Time, error) {
	return []int64{r.milli}, time.Time{}, nil
}

// pods is a lister of pods that all run, of which some are ready.
type pods struct {
	corelisters.PodNamespaceLister
	total, ready int
}

func (p pods) Pods(string) corelisters.PodNamespaceLister { return p }

func (p pods) List(labels.Selector) ([]*corev1.Pod, error) {
	pod := func(ready corev1.ConditionStatus) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{
			Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}},
		}}
	}
	ready, unready, out := pod(corev1.ConditionTrue), pod(corev1.ConditionFalse), make([]*corev1.Pod, p.total)
	for i := range out {
		out[i] = unready
		if i < p.ready {
			out[i] = ready
		}
	}
	return out, nil
}

// ask returns the count that the HPA wants of the target before its minimum and maximum, or its error.
func ask(c situation) (want int32, err error) {
	allowed, err := tolerances(tolerance, tolerance)
	if err != nil {
		return 0, err
	}
	calculator := podautoscaler.NewReplicaCalculator(reading{milli: c.usage},
		pods{total: int(max(c.status, c.ready)), ready: int(c.ready)}, 0, 0)
	if c.average {
		want, _, _, err = calculator.GetExternalPerPodMetricReplicas(c.status, c.target, "metric", allowed, "ns", nil)
		return want, err
	}
	want, _, _, err = calculator.GetExternalMetricReplicas(c.spec, c.target, "metric", allowed, "ns", nil, labels.Everything())
	return want, err
}

// The oracle itself must give the answers of the HPA's documentation; else the file would prove nothing.
func TestCalculatorAnswersAsDocumented(t *testing.T) {
	for name, c := range map[string]struct {
		situation
		want int32
	}{
		"twice the target doubles":          {situation{usage: 200_000, target: 100_000, spec: 3, status: 3, ready: 3}, 6},
		"within the tolerance":              {situation{usage: 110_000, target: 100_000, spec: 3, status: 3, ready: 3}, 3},
		"just above it":                     {situation{usage: 110_001, target: 100_000, spec: 3, status: 3, ready: 3}, 4},
		"only ready pods count":             {situation{usage: 200_000, target: 100_000, spec: 3, status: 3, ready: 1}, 2},
		"up from zero":                      {situation{usage: 350_000, target: 100_000}, 4},
		"average, rounded up":               {situation{average: true, usage: 350_000, target: 100_000, spec: 1, status: 1, ready: 1}, 4},
		"average, readiness plays no part":  {situation{average: true, usage: 350_000, target: 100_000, spec: 9, status: 9}, 4},
		"average of nothing at no replicas": {situation{average: true, target: 100_000}, 0},
	} {
		if got, err := ask(c.situation); err != nil || got != c.want {
			t.Errorf("%s: %d, %v; want %d", name, got, err, c.want)
		}
	}
}
