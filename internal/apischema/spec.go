package apischema

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/timecalc"
)

// Hub is the schema of the version in which TimeWindowScalers are stored.
var Hub = sync.OnceValues(func() (*Schema, error) {
	return Kyklos("timewindowscalers", v1beta1.GroupVersion.Version)
})

// RefusedSpec returns what the schema of a stored TimeWindowScaler refuses in its spec, in the order of the fields. The API
// server has checked that for what was written in v1beta1, but not for what was converted, nor for what is older than a rule.
// Zones that are unknown here are left to the schedule, which does without them (B5).
func RefusedSpec(ctx context.Context, spec *v1beta1.TimeWindowScalerSpec) (field.ErrorList, error) {
	schema, err := Hub()
	if err != nil {
		return nil, err
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v1beta1.TimeWindowScaler{Spec: *withKnownZones(spec)})
	if err != nil {
		return nil, err
	}
	object["apiVersion"], object["kind"], object["metadata"] = v1beta1.GroupVersion.String(), v1beta1.Kind, map[string]any{}
	schema.Complete(object)
	errs := schema.Validate(ctx, nil, object)
	errs = slices.DeleteFunc(errs, func(err *field.Error) bool { return err.Detail == RulesSkipped })
	slices.SortStableFunc(errs, func(a, b *field.Error) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Error(), b.Error()))
	})
	return errs, nil
}

// withKnownZones replaces zones that are unknown here by UTC.
func withKnownZones(spec *v1beta1.TimeWindowScalerSpec) *v1beta1.TimeWindowScalerSpec {
	known := spec.DeepCopy()
	zones := []*string{&known.Timezone}
	for i := range known.Windows {
		if zone := &known.Windows[i].Timezone; *zone != "" {
			zones = append(zones, zone)
		}
	}
	for _, zone := range zones {
		if _, err := timecalc.LoadZone(*zone); err != nil {
			*zone = "UTC"
		}
	}
	return known
}
