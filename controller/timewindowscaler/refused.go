package timewindowscaler

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/apischema"
)

var specSeed = maphash.MakeSeed()

// refusedSpec remembers what the schema refuses in a spec, because finding out costs more than the rest of a pass. The spec
// is recognized by its hash: neither a generation nor a resourceVersion tells whether it has changed.
type refusedSpec struct {
	spec    uint64
	checked bool
	// putOff: the check was put off once.
	putOff bool
	errs   field.ErrorList
}

// canWait reports whether the check can be put off, once after a start, while nothing is to be written: the status says that an
// earlier process accepted this generation. Ten thousand checks take seconds, and what is due goes first.
func (r *refusedSpec) canWait(tws *v1beta1.TimeWindowScaler) bool {
	degraded := meta.FindStatusCondition(tws.Status.Conditions, v1beta1.ConditionDegraded)
	return !r.checked && !r.putOff && tws.Status.ObservedGeneration == tws.Generation &&
		degraded != nil && degraded.Reason != v1beta1.ReasonInvalidConfiguration
}

func (r *refusedSpec) of(ctx context.Context, spec *v1beta1.TimeWindowScalerSpec) (field.ErrorList, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encode the spec: %w", err)
	}
	hash := maphash.Bytes(specSeed, text)
	if r.checked && r.spec == hash {
		return r.errs, nil
	}
	errs, err := apischema.RefusedSpec(ctx, spec)
	if err != nil {
		return nil, fmt.Errorf("validate the spec: %w", err)
	}
	*r = refusedSpec{spec: hash, checked: true, errs: errs}
	return errs, nil
}
