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

// evaluate is what the policy has against a request, with the budget, the order and the words of the API server's validator
// (apiserver, pkg/admission/plugin/policy/validating/validator.go).
func (one *policy) evaluate(ctx context.Context, in input) []verdict {
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
	var all []verdict
	for i, result := range results {
		switch {
		case result.Error != nil:
			all = append(all, one.failed(result.Error.Error())...)
		case errors.Is(messageErr, apiservercel.ErrInternal), errors.Is(messageErr, apiservercel.ErrOutOfBudget):
			all = append(all, one.failed(fmt.Sprintf("failed messageExpression: %s", messageErr))...)
		case result.EvalResult != celtypes.True:
			all = append(all, verdict{message: one.message(i, messages), field: subject(one.Spec.Validations[i].Expression)})
		}
	}
	return append(all, one.annotate(ctx, in, asked, bound)...)
}

// failed is what an evaluation that failed comes to.
func (one *policy) failed(message string) []verdict {
	if one.ignoresFailure() {
		return nil
	}
	return []verdict{{message: message, failed: true}}
}

// message is what validation i says: what its messageExpression comes to, else its message, else its expression.
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

// annotate evaluates the audit annotations, which nobody sees here, because those that fail deny the request.
func (one *policy) annotate(
	ctx context.Context, in input, asked *admissionreview.AdmissionRequest, bound plugincel.OptionalVariableBindings,
) (all []verdict) {
	results, _, err := one.annotations.ForInput(ctx, in.versioned, asked, bound, in.namespace, celconfig.RuntimeCELCostBudget)
	if err != nil {
		return one.failed(err.Error())
	}
	for _, result := range results {
		if result.Error != nil {
			for _, v := range one.failed(result.Error.Error()) {
				v.always = true
				all = append(all, v)
			}
		}
	}
	return all
}
