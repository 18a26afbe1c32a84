package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/apischema"
	"kyklos.io/kyklos/webhooks/conversion"
)

// CheckConversion judges a write in v1alpha1 as the v1beta1 object that it stores, and returns that object. It refuses
// what would lose or change anything that v1alpha1 does not show, and what v1beta1 would refuse (A2). stored is the
// object that is updated, in v1beta1, nil on create; raw is in v1alpha1. All are JSON.
func CheckConversion(ctx context.Context, stored, raw []byte) (hub []byte, all Findings, err error) {
	review, err := conversion.ReviewWrite(stored, raw)
	if errors.Is(err, conversion.ErrCut) {
		all.refuse(ConversionSize, Other{}, field.Forbidden(field.NewPath("metadata", "annotations"), err.Error()))
		return nil, all, nil
	} else if err != nil {
		return nil, nil, err
	}
	all.checkHidden(review)
	if len(all) > 0 {
		return review.Hub, all, nil
	}
	hub, errs, err := completeHub(ctx, stored, review.Hub)
	for _, e := range errs {
		if e.Detail != apischema.RulesSkipped {
			e.Detail += "; change it in " + v1beta1.GroupVersion.String() + ", in which the object is stored"
			all.refuse(ConversionInvalid, Other{}, e)
		}
	}
	return hub, all, err
}

// checkHidden refuses changes of what v1alpha1 does not show.
func (all *Findings) checkHidden(review conversion.Review) {
	const use = ", or use kyklos.io/v1beta1"
	if len(review.Lost) > 0 {
		all.refuse(ConversionLoss, Other{}, field.Forbidden(pathOf(review.Lost[0]), fmt.Sprintf(
			"would be lost%s, and annotation %s no longer preserves %s; leave the annotation as it is%s",
			others(len(review.Lost)-1), conversion.Annotation, pronoun(len(review.Lost)), use)))
	}
	if len(review.Changed) > 0 {
		all.refuse(ConversionChange, Other{}, field.Forbidden(pathOf(review.Changed[0]), fmt.Sprintf(
			"would be set by annotation %s%s; leave the annotation as it is%s", conversion.Annotation, others(len(review.Changed)-1), use)))
	}
	if review.Damaged {
		all.refuse(ConversionLoss, Other{}, field.Forbidden(field.NewPath("metadata", "annotations").Key(conversion.Annotation),
			"it cannot be read, so what it preserves would be lost; copy it whole, or leave it out to do without what v1alpha1 does not have"))
	}
	for _, w := range review.Unclear {
		name := "this window"
		if w.Name != "" {
			name = "window " + quote(w.Name)
		}
		all.refuse(ConversionUnclear, Other{}, field.Forbidden(pathOf(w.Path), fmt.Sprintf(
			"it is not clear what became of %s, and v1alpha1 does not show all of it; change, move or delete one window at a time%s", name, use)))
	}
}

func others(more int) string {
	switch more {
	case 0:
		return ": v1alpha1 does not have this field"
	case 1:
		return ", with 1 more field: v1alpha1 does not have these fields"
	}
	return fmt.Sprintf(", with %d more fields: v1alpha1 does not have these fields", more)
}

func pronoun(count int) string {
	if count == 1 {
		return "it"
	}
	return "them"
}

// pathOf is a path that is written already.
func pathOf(path string) *field.Path { return field.NewPath(shorten(path)) }

// completeHub does with a converted object what the API server does with one that was written in v1beta1: it prunes and
// validates it, and sets defaults. An update is only charged with what it changes.
func completeHub(ctx context.Context, stored, raw []byte) (hub []byte, errs field.ErrorList, err error) {
	schema, err := apischema.Hub()
	if err != nil {
		return nil, nil, err
	}
	object, err := decodeComplete(schema, raw)
	if err != nil {
		return nil, nil, err
	}
	if stored == nil {
		errs = schema.Validate(ctx, nil, object)
	} else {
		old, err := decodeComplete(schema, stored)
		if err != nil {
			return nil, nil, err
		}
		errs = schema.ValidateUpdate(ctx, nil, object, old)
	}
	hub, err = json.Marshal(object)
	return hub, errs, err
}

func decodeComplete(schema *apischema.Schema, raw []byte) (map[string]any, error) {
	var object map[string]any
	if err := utiljson.Unmarshal(raw, &object); err != nil {
		return nil, err
	}
	schema.Complete(object)
	return object, nil
}
