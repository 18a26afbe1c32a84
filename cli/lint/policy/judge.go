package policy

import (
	"context"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"

	"kyklos.io/kyklos/cli/lint"
)

// verdict is what one evaluation of a bound policy comes to.
type verdict struct {
	message string
	field   string
	failed  bool // the evaluation failed, rather than that it came to false
	always  bool // denied whatever the binding's actions are
}

// Judge says what the policies say about a request, in the order of the policies' names: an error where the API server would deny it,
// and a warning where it would warn, or where only a cluster knows. Where several things deny a request, the API server tells of one
// of them. A nil receiver has no policies.
func (p *Policies) Judge(ctx context.Context, r Request) (findings []lint.Finding) {
	if p == nil {
		return nil
	}
	judged := p.request(r)
	if rules.IsExemptAdmissionConfigurationResource(judged) {
		return nil
	}
	for _, one := range p.policies {
		for _, f := range p.judgeBy(ctx, one, judged) {
			f.Object, f.Rule = r.Object, lint.Policy
			f.At, _ = r.Object.Position(f.Field)
			findings = append(findings, f)
		}
	}
	return findings
}

func (p *Policies) judgeBy(ctx context.Context, one *policy, r *request) (findings []lint.Finding) {
	matched, err := p.match(r, one.Spec.MatchConstraints)
	if err != nil {
		return one.misconfigured(fmt.Errorf("failed to configure policy: %w", err), nil)
	}
	if !matched.found {
		return nil
	}
	versioned, err := p.versioned(r, matched)
	if err != nil {
		return one.unknown(err.Error())
	}
	bindings := one.bindings
	if len(bindings) == 0 {
		deny := admissionv1.ValidatingAdmissionPolicyBindingSpec{ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}}
		bindings = []*admissionv1.ValidatingAdmissionPolicyBinding{{Spec: deny}}
	}
	for _, binding := range bindings {
		bound, err := p.match(r, binding.Spec.MatchResources)
		if err != nil {
			findings = append(findings, one.misconfigured(fmt.Errorf("failed to configure binding: %w", err), binding)...)
			continue
		}
		if !bound.found {
			continue
		}
		if why := one.missing(r, matched.unsure || bound.unsure); why != "" {
			return one.unknown(why)
		}
		params, err := p.params(one.Spec.ParamKind, binding.Spec.ParamRef, r.GetNamespace())
		if err != nil {
			findings = append(findings, one.misconfigured(fmt.Errorf("failed to configure binding: %w", err), binding)...)
			continue
		}
		for _, param := range params {
			for _, v := range one.evaluate(ctx, input{r, versioned, matched.resource, param}) {
				findings = append(findings, one.findings(v, binding, r.builtIn)...)
			}
		}
	}
	return findings
}

// versioned is the request in the version that the policy's rules ask for.
func (p *Policies) versioned(r *request, m match) (*admission.VersionedAttributes, error) {
	versioned := &admission.VersionedAttributes{Attributes: r, VersionedKind: m.kind}
	object, err := p.kinds.convert(r.GetObject(), m.kind)
	if err != nil {
		return nil, err
	}
	versioned.VersionedObject = admission.NewLazyObject(object)
	if r.GetOldObject() == nil {
		return versioned, nil
	}
	old, err := p.kinds.convert(r.GetOldObject(), m.kind)
	versioned.VersionedOldObject = admission.NewLazyObject(old)
	return versioned, err
}

// missing is what one would have to know to judge the request; "" is nothing.
func (one *policy) missing(r *request, unsure bool) string {
	switch {
	case one.asksAuthorizer:
		return "it asks what the user of the request may do (authorizer), which only a cluster knows"
	case unsure:
		return fmt.Sprintf("it chooses Namespaces by their labels, and Namespace %s is not among the manifests: give it with --policy", r.GetNamespace())
	case one.asksNamespace && r.strange():
		return fmt.Sprintf("it looks at the Namespace (namespaceObject), and Namespace %s is not among the manifests: give it with --policy", r.GetNamespace())
	}
	return ""
}

func (one *policy) unknown(why string) []lint.Finding {
	return []lint.Finding{{
		Severity: lint.Warning,
		Message:  fmt.Sprintf("ValidatingAdmissionPolicy '%s' cannot be judged here: %s", one.Name, why),
	}}
}

// misconfigured is what a policy comes to that cannot be evaluated as it is set up.
func (one *policy) misconfigured(err error, binding *admissionv1.ValidatingAdmissionPolicyBinding) []lint.Finding {
	if one.ignoresFailure() {
		return nil
	}
	if binding == nil {
		binding = &admissionv1.ValidatingAdmissionPolicyBinding{}
	}
	return one.findings(verdict{message: err.Error(), always: true}, binding, false)
}

func (one *policy) ignoresFailure() bool {
	return one.Spec.FailurePolicy != nil && *one.Spec.FailurePolicy == admissionv1.Ignore
}

// findings is a verdict in the API server's words, once for each action of the binding that speaks to the author.
func (one *policy) findings(v verdict, binding *admissionv1.ValidatingAdmissionPolicyBinding, builtIn bool) (all []lint.Finding) {
	by := fmt.Sprintf("ValidatingAdmissionPolicy '%s'", one.Name)
	if binding.Name != "" {
		by += fmt.Sprintf(" with binding '%s'", binding.Name)
	}
	if v.failed && builtIn {
		return one.unknown(v.message + "; the API server has defaults for this kind, which are not known here")
	}
	denied := lint.Finding{Severity: lint.Error, Field: v.field, Message: by + " denied request: " + v.message}
	if v.always {
		return []lint.Finding{denied}
	}
	for _, action := range binding.Spec.ValidationActions {
		switch action {
		case admissionv1.Deny:
			all = append(all, denied)
		case admissionv1.Warn:
			all = append(all, lint.Finding{Severity: lint.Warning, Field: v.field, Message: "Validation failed for " + by + ": " + v.message})
		}
	}
	return all
}

// input is what a policy is evaluated with.
type input struct {
	*request
	versioned *admission.VersionedAttributes
	resource  gvr
	param     runtime.Object // nil without one
}
