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

// decision is a failed validation of a bound policy.
type decision struct {
	message string
	field   string
	failed  bool // the expression could not be evaluated
	always  bool // denied whatever the binding's actions are
}

// Evaluate evaluates all policies for a request, sorted by name: an error if the API server would deny it, and a warning
// if it would warn or only a cluster can decide. The API server only returns one of several errors. A nil receiver
// has no policies.
func (p *Policies) Evaluate(ctx context.Context, r Request) (findings []lint.Finding) {
	if p == nil {
		return nil
	}
	request := p.request(r)
	if rules.IsExemptAdmissionConfigurationResource(request) {
		return nil
	}
	for _, one := range p.policies {
		for _, f := range p.evaluate(ctx, one, request) {
			f.Object, f.Rule = r.Object, lint.Policy
			f.At, _ = r.Object.Position(f.Field)
			findings = append(findings, f)
		}
	}
	return findings
}

func (p *Policies) evaluate(ctx context.Context, one *policy, r *request) (findings []lint.Finding) {
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
			for _, d := range one.validate(ctx, input{r, versioned, matched.resource, param}) {
				findings = append(findings, one.findings(d, binding, r.builtIn)...)
			}
		}
	}
	return findings
}

// versioned converts the request to the version in the policy's rules.
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

// missing returns what must be known to evaluate the policy; "" if nothing is missing.
func (one *policy) missing(r *request, unsure bool) string {
	switch {
	case one.asksAuthorizer:
		return "it checks permissions (authorizer), which are only known in a cluster"
	case unsure:
		return fmt.Sprintf("it selects namespaces by label, and Namespace %s is not in the manifests: add it with --policy", r.GetNamespace())
	case one.asksNamespace && r.namespaceUnknown():
		return fmt.Sprintf("it reads the Namespace (namespaceObject), and Namespace %s is not in the manifests: add it with --policy", r.GetNamespace())
	}
	return ""
}

func (one *policy) unknown(why string) []lint.Finding {
	return []lint.Finding{{
		Severity: lint.Warning,
		Message:  fmt.Sprintf("ValidatingAdmissionPolicy '%s' cannot be evaluated: %s", one.Name, why),
	}}
}

// misconfigured reports a policy that cannot be evaluated because of its configuration.
func (one *policy) misconfigured(err error, binding *admissionv1.ValidatingAdmissionPolicyBinding) []lint.Finding {
	if one.ignoresFailure() {
		return nil
	}
	if binding == nil {
		binding = &admissionv1.ValidatingAdmissionPolicyBinding{}
	}
	return one.findings(decision{message: err.Error(), always: true}, binding, false)
}

func (one *policy) ignoresFailure() bool {
	return one.Spec.FailurePolicy != nil && *one.Spec.FailurePolicy == admissionv1.Ignore
}

// findings reports a decision as the API server does, once for each action of the binding that the client sees.
func (one *policy) findings(d decision, binding *admissionv1.ValidatingAdmissionPolicyBinding, builtIn bool) (all []lint.Finding) {
	by := fmt.Sprintf("ValidatingAdmissionPolicy '%s'", one.Name)
	if binding.Name != "" {
		by += fmt.Sprintf(" with binding '%s'", binding.Name)
	}
	if d.failed && builtIn {
		return one.unknown(d.message + "; the API server sets defaults for this kind, which are not known here")
	}
	denied := lint.Finding{Severity: lint.Error, Field: d.field, Message: by + " denied request: " + d.message}
	if d.always {
		return []lint.Finding{denied}
	}
	for _, action := range binding.Spec.ValidationActions {
		switch action {
		case admissionv1.Deny:
			all = append(all, denied)
		case admissionv1.Warn:
			all = append(all, lint.Finding{Severity: lint.Warning, Field: d.field, Message: "Validation failed for " + by + ": " + d.message})
		}
	}
	return all
}

// input are the variables for a policy.
type input struct {
	*request
	versioned *admission.VersionedAttributes
	resource  gvr
	param     runtime.Object // nil without params
}
