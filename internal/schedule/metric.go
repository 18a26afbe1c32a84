package schedule

import (
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// Metric is a window's metric, parsed.
type Metric struct {
	Name string
	// Selector says which series count; everything where none is given.
	Selector labels.Selector
	// Type is Value or AverageValue, and Target the value to keep, in thousandths.
	Type   v1beta1.MetricTargetType
	Target int64
	// Lowest and Highest bound the replica count; see MetricBounds.
	Lowest, Highest int32
}

// MetricBounds are the lowest and the highest count that a metric may set: minReplicas, 1 if left out, and maxReplicas.
func MetricBounds(spec *v1beta1.WindowMetric) (lowest, highest int32) {
	return ptr.Deref(spec.MinReplicas, 1), spec.MaxReplicas
}

// readMetric reads a window's metric. path is where it lies. The schema checks the same, except for the
// syntax of labels; but an object can be older than a rule of the schema.
func readMetric(spec *v1beta1.WindowMetric, path *field.Path) (Metric, field.ErrorList) {
	var errs field.ErrorList
	metric := Metric{Name: spec.Name, Type: spec.Target.Type}
	metric.Lowest, metric.Highest = MetricBounds(spec)
	if spec.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), "must be the name of a metric"))
	}
	var err error
	if metric.Selector, err = Selector(spec.Selector); err != nil {
		errs = append(errs, field.Invalid(path.Child("selector"), spec.Selector, err.Error()))
	}
	target, problem := readTarget(&spec.Target, path.Child("target"))
	if problem != nil {
		errs = append(errs, problem)
	}
	metric.Target = target
	if metric.Lowest < 0 {
		errs = append(errs, field.Invalid(path.Child("minReplicas"), metric.Lowest, "must not be negative"))
	}
	if metric.Highest < max(metric.Lowest, 1) {
		errs = append(errs, field.Invalid(path.Child("maxReplicas"), metric.Highest, "must be at least 1 and not below minReplicas, which is 1 if left out"))
	}
	return metric, errs
}

// Selector reads which series of a metric count.
func Selector(spec *v1beta1.MetricSelector) (labels.Selector, error) {
	if spec == nil {
		return labels.Everything(), nil
	}
	read := &metav1.LabelSelector{MatchLabels: make(map[string]string, len(spec.MatchLabels))}
	for key, value := range spec.MatchLabels {
		read.MatchLabels[key] = string(value)
	}
	for _, r := range spec.MatchExpressions {
		read.MatchExpressions = append(read.MatchExpressions, metav1.LabelSelectorRequirement{
			Key: r.Key, Operator: metav1.LabelSelectorOperator(r.Operator), Values: r.Values,
		})
	}
	return metav1.LabelSelectorAsSelector(read)
}

// The bounds of a metric's target, as the schema has them.
var (
	lowestTarget  = resource.MustParse("1m")
	highestTarget = resource.MustParse("1P")
)

func readTarget(spec *v1beta1.MetricTarget, path *field.Path) (int64, *field.Error) {
	name, text := "value", spec.Value
	switch spec.Type {
	case v1beta1.MetricValue:
	case v1beta1.MetricAverageValue:
		name, text = "averageValue", spec.AverageValue
	default:
		return 0, field.NotSupported(path.Child("type"), spec.Type, []v1beta1.MetricTargetType{v1beta1.MetricValue, v1beta1.MetricAverageValue})
	}
	quantity, err := resource.ParseQuantity(text)
	if err != nil || quantity.Cmp(lowestTarget) < 0 || quantity.Cmp(highestTarget) > 0 {
		return 0, field.Invalid(path.Child(name), text, `must be a quantity from 0.001 to 1P, such as "30", "0.5" or "500m"`)
	}
	return Milli(quantity), nil
}

// Milli is a quantity in thousandths, rounded up, and the nearest int64 where it does not fit in one:
// MilliValue alone would turn it into any number.
func Milli(quantity resource.Quantity) int64 {
	for _, end := range []int64{math.MaxInt64, math.MinInt64} {
		limit := resource.NewMilliQuantity(end, resource.DecimalSI)
		if beyond := quantity.Cmp(*limit); beyond == 0 || beyond > 0 == (end > 0) {
			return end
		}
	}
	return quantity.MilliValue()
}
