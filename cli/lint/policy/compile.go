package policy

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/cel/environment"
)

// compiled is a policy's expressions, ready to be evaluated.
type compiled struct {
	validations, messages, annotations plugincel.ConditionEvaluator
	conditions                         matchconditions.Matcher // nil without matchConditions
	// asksAuthorizer and asksNamespace: an expression reads permissions, or the Namespace.
	asksAuthorizer, asksNamespace bool
}

// expression is the compiler's input: an expression and its possible types.
type expression struct {
	name, text string
	types      []*cel.Type
}

func (e *expression) GetExpression() string    { return e.text }
func (e *expression) ReturnTypes() []*cel.Type { return e.types }
func (e *expression) GetName() string          { return e.name }

// fieldError is an expression that does not compile.
type fieldError struct{ field, reason string }

// compiler compiles the expressions of one policy, and collects their errors.
type compiler struct {
	*plugincel.CompositedCompiler
	compiled
	hasParams bool
	errors    []fieldError
}

// compile compiles a policy as the API server does (apiserver, pkg/admission/plugin/policy/validating/plugin.go).
func compile(policy *admissionv1.ValidatingAdmissionPolicy) (*compiled, []fieldError) {
	composited, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return nil, []fieldError{{"spec", err.Error()}}
	}
	c := &compiler{CompositedCompiler: composited, hasParams: policy.Spec.ParamKind != nil}
	for i, v := range policy.Spec.Variables {
		variable := &expression{v.Name, v.Expression, []*cel.Type{cel.AnyType, cel.DynType}}
		c.check(fmt.Sprintf("spec.variables[%d].expression", i), variable, true)
		c.CompileAndStoreVariable(variable, c.declarations(true), environment.StoredExpressions)
	}
	conditions := make([]plugincel.ExpressionAccessor, len(policy.Spec.MatchConditions))
	for i := range policy.Spec.MatchConditions {
		condition := (*matchconditions.MatchCondition)(&policy.Spec.MatchConditions[i])
		c.check(fmt.Sprintf("spec.matchConditions[%d].expression", i), condition, true)
		conditions[i] = condition
	}
	var validations, messages, annotations []plugincel.ExpressionAccessor
	for i, v := range policy.Spec.Validations {
		validation := &expression{text: v.Expression, types: []*cel.Type{cel.BoolType}}
		c.check(fmt.Sprintf("spec.validations[%d].expression", i), validation, true)
		validations = append(validations, validation)
		if v.MessageExpression == "" {
			messages = append(messages, nil) // keeps indexes equal
			continue
		}
		message := &expression{text: v.MessageExpression, types: []*cel.Type{cel.StringType}}
		c.check(fmt.Sprintf("spec.validations[%d].messageExpression", i), message, false)
		messages = append(messages, message)
	}
	for i, a := range policy.Spec.AuditAnnotations {
		annotation := &expression{text: a.ValueExpression, types: []*cel.Type{cel.StringType, cel.NullType}}
		c.check(fmt.Sprintf("spec.auditAnnotations[%d].valueExpression", i), annotation, true)
		annotations = append(annotations, annotation)
	}
	if len(conditions) > 0 {
		c.conditions = matchconditions.NewMatcher(c.condition(conditions, true), policy.Spec.FailurePolicy, "policy", "validate", policy.Name)
	}
	c.validations, c.messages, c.annotations = c.condition(validations, true), c.condition(messages, false), c.condition(annotations, true)
	return &c.compiled, c.errors
}

func (c *compiler) condition(expressions []plugincel.ExpressionAccessor, authorizer bool) plugincel.ConditionEvaluator {
	return c.CompileCondition(expressions, c.declarations(authorizer), environment.StoredExpressions)
}

func (c *compiler) declarations(authorizer bool) plugincel.OptionalVariableDeclarations {
	return plugincel.OptionalVariableDeclarations{HasParams: c.hasParams, HasAuthorizer: authorizer}
}

// check compiles an expression as the API server does when the policy is created, and finds what it reads.
func (c *compiler) check(field string, e plugincel.ExpressionAccessor, authorizer bool) {
	result := c.CompileCELExpression(e, c.declarations(authorizer), environment.NewExpressions)
	if result.Error != nil {
		c.errors = append(c.errors, fieldError{field, result.Error.Detail})
		return
	}
	text := e.GetExpression()
	if strings.Contains(text, plugincel.AuthorizerVarName) {
		without := c.CompileCELExpression(e, c.declarations(false), environment.StoredExpressions)
		c.asksAuthorizer = c.asksAuthorizer || without.Error != nil
	}
	c.asksNamespace = c.asksNamespace || strings.Contains(text, plugincel.NamespaceVarName)
}
