package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	celtypes "github.com/google/cel-go/common/types"
	admissionreview "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

type gvr = schema.GroupVersionResource

// validate returns the policy's failed validations, with the budget, order and messages of the API server
// (apiserver, pkg/admission/plugin/policy/validating/validator.go).
func (one *policy) validate(ctx context.Context, in input) []decision {
	if one.conditions != nil {
		matched := one.conditions.Match(ctx, in.versioned, in.param, nil)
		if matched.Error != nil {
			return one.failed(matched.Error.Error())
		}
		if !matched.Matches {
			return nil
		}
	}
	bound := plugincel.OptionalVariableBindings{VersionedParams: in.param}
	asked := plugincel.CreateAdmissionRequest(in.versioned.Attributes, metav1.GroupVersionResource(in.resource),
		metav1.GroupVersionKind(in.versioned.VersionedKind))
	namespace := plugincel.CreateNamespaceObject(in.namespace)
	results, budget, err := one.validations.ForInput(ctx, in.versioned, asked, bound, namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return one.failed(err.Error())
	}
	messages, _, messageErr := one.messages.ForInput(ctx, in.versioned, asked, bound, namespace, budget)
	var all []decision
	for i, result := range results {
		switch {
		case result.Error != nil:
			all = append(all, one.failed(result.Error.Error())...)
		case errors.Is(messageErr, apiservercel.ErrInternal), errors.Is(messageErr, apiservercel.ErrOutOfBudget):
			all = append(all, one.failed(fmt.Sprintf("failed messageExpression: %s", messageErr))...)
		case result.EvalResult != celtypes.True:
			all = append(all, decision{message: one.message(i, messages), field: subject(one.Spec.Validations[i].Expression)})
		}
	}
	return append(all, one.annotate(ctx, in, asked, bound)...)
}

// failed applies the policy's failurePolicy to an expression that could not be evaluated.
func (one *policy) failed(message string) []decision {
	if one.ignoresFailure() {
		return nil
	}
	return []decision{{message: message, failed: true}}
}

// message is that of validation i: its messageExpression, else its message, else its expression.
func (one *policy) message(i int, messages []plugincel.EvaluationResult) string {
	if i < len(messages) && messages[i].Error == nil && messages[i].EvalResult != nil {
		text, _ := messages[i].EvalResult.Value().(string)
		text = strings.TrimSpace(text)
		if text != "" && len(text) <= celconfig.MaxEvaluatedMessageExpressionSizeBytes && !strings.Contains(text, "\n") {
			return text
		}
	}
	if text := strings.TrimSpace(one.Spec.Validations[i].Message); text != "" {
		return text
	}
	return "failed expression: " + strings.TrimSpace(one.Spec.Validations[i].Expression)
}

// annotate evaluates the audit annotations: those that fail deny the request.
func (one *policy) annotate(
	ctx context.Context, in input, asked *admissionreview.AdmissionRequest, bound plugincel.OptionalVariableBindings,
) (all []decision) {
	results, _, err := one.annotations.ForInput(ctx, in.versioned, asked, bound, in.namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return one.failed(err.Error())
	}
	for _, result := range results {
		if result.Error != nil {
			for _, d := range one.failed(result.Error.Error()) {
				d.always = true
				all = append(all, d)
			}
		}
	}
	return all
}
