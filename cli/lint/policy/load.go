package policy

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/policy/matching"

	"kyklos.io/kyklos/cli/manifest"
)

// Policies are compiled policies with what they need to be evaluated. They are safe for concurrent use.
type Policies struct {
	policies   []*policy // by name
	matcher    *matching.Matcher
	namespaces namespaces
	kinds      kinds
	objects    map[schema.GroupVersionKind][]*manifest.Object // for params
}

// policy is a policy and its bindings.
type policy struct {
	*admissionv1.ValidatingAdmissionPolicy
	*compiled
	bindings []*admissionv1.ValidatingAdmissionPolicyBinding
}

// Load compiles the given policies with their bindings. Params and Namespaces come from what is given and from the
// checked set; policies in the set are ignored unless given. A policy without bindings is bound to everything that
// it matches, with the action Deny. The error has all problems with their positions.
func Load(given, set []*manifest.Object) (*Policies, error) {
	known := slices.Concat(given, set)
	p := &Policies{kinds: knownKinds(known), namespaces: namespacesOf(known), objects: map[schema.GroupVersionKind][]*manifest.Object{}}
	p.matcher = matching.NewMatcher(p.namespaces, nil)
	for _, object := range known {
		p.objects[object.GroupVersionKind()] = append(p.objects[object.GroupVersionKind()], object)
	}
	var problems []error
	bindings := map[string][]*admissionv1.ValidatingAdmissionPolicyBinding{}
	origin := map[*policy]*manifest.Object{}
	for _, object := range given {
		switch object.GroupVersionKind().GroupKind() {
		case schema.GroupKind{Group: admissionv1.GroupName, Kind: "ValidatingAdmissionPolicy"}:
			one, errs := readPolicy(object)
			problems = append(problems, errs...)
			p.policies, origin[one] = append(p.policies, one), object
		case schema.GroupKind{Group: admissionv1.GroupName, Kind: "ValidatingAdmissionPolicyBinding"}:
			one, errs := readBinding(object)
			problems = append(problems, errs...)
			bindings[one.Spec.PolicyName] = append(bindings[one.Spec.PolicyName], one)
		}
	}
	if len(p.policies) == 0 {
		problems = append(problems, errors.New("no ValidatingAdmissionPolicy in the given policies"))
	}
	for _, one := range p.policies {
		one.bindings = bindings[one.Name]
		if one.Spec.ParamKind != nil && len(one.bindings) == 0 {
			problems = append(problems, problem(origin[one], "spec.paramKind",
				"the policy has params, but no ValidatingAdmissionPolicyBinding with policyName %s is given: add it", one.Name))
		}
	}
	slices.SortStableFunc(p.policies, func(a, b *policy) int { return cmp.Compare(a.Name, b.Name) })
	return p, errors.Join(problems...)
}

func readPolicy(object *manifest.Object) (*policy, []error) {
	one := &policy{ValidatingAdmissionPolicy: &admissionv1.ValidatingAdmissionPolicy{}}
	if err := otherVersion(object); err != nil {
		return one, []error{err}
	}
	problems := read(object, one.ValidatingAdmissionPolicy)
	spec := &one.Spec
	match := spec.MatchConstraints
	if match == nil || len(match.ResourceRules) == 0 {
		problems = append(problems, problem(object, "spec.matchConstraints.resourceRules", "spec.matchConstraints.resourceRules: must have at least one rule"))
	} else {
		problems = append(problems, readMatch(object, "spec.matchConstraints", match)...)
	}
	if len(spec.Validations) == 0 && len(spec.AuditAnnotations) == 0 {
		problems = append(problems, problem(object, "spec.validations", "spec.validations: must have at least one"))
	}
	if spec.FailurePolicy != nil && *spec.FailurePolicy != admissionv1.Fail && *spec.FailurePolicy != admissionv1.Ignore {
		problems = append(problems, problem(object, "spec.failurePolicy", "spec.failurePolicy: must be Fail or Ignore, not %q", *spec.FailurePolicy))
	}
	compiled, errs := compile(one.ValidatingAdmissionPolicy)
	for _, err := range errs {
		problems = append(problems, problem(object, err.field, "%s: %s", err.field, err.reason))
	}
	one.compiled = compiled
	return one, problems
}

func readBinding(object *manifest.Object) (*admissionv1.ValidatingAdmissionPolicyBinding, []error) {
	one := &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := otherVersion(object); err != nil {
		return one, []error{err}
	}
	problems := read(object, one)
	if one.Spec.PolicyName == "" {
		problems = append(problems, problem(object, "spec.policyName", "spec.policyName: must name the bound policy"))
	}
	if len(one.Spec.ValidationActions) == 0 {
		problems = append(problems, problem(object, "spec.validationActions", "spec.validationActions: must have Deny, Warn or Audit"))
	}
	for i, action := range one.Spec.ValidationActions {
		if !slices.Contains([]admissionv1.ValidationAction{admissionv1.Deny, admissionv1.Warn, admissionv1.Audit}, action) {
			field := fmt.Sprintf("spec.validationActions[%d]", i)
			problems = append(problems, problem(object, field, "%s: must be Deny, Warn or Audit, not %q", field, action))
		}
	}
	if ref := one.Spec.ParamRef; ref != nil && (ref.Name == "") == (ref.Selector == nil) {
		problems = append(problems, problem(object, "spec.paramRef", "spec.paramRef: must have either name or selector"))
	}
	if match := one.Spec.MatchResources; match != nil {
		problems = append(problems, readMatch(object, "spec.matchResources", match)...)
	}
	return one, problems
}

// readMatch validates match criteria, and sets the API server's defaults.
func readMatch(object *manifest.Object, field string, match *admissionv1.MatchResources) (problems []error) {
	for i, rule := range slices.Concat(match.ResourceRules, match.ExcludeResourceRules) {
		if len(rule.Operations) == 0 || len(rule.APIGroups) == 0 || len(rule.APIVersions) == 0 || len(rule.Resources) == 0 {
			at := fmt.Sprintf("%s.resourceRules[%d]", field, i)
			if n := len(match.ResourceRules); i >= n {
				at = fmt.Sprintf("%s.excludeResourceRules[%d]", field, i-n)
			}
			problems = append(problems, problem(object, at, "%s: must have operations, apiGroups, apiVersions and resources", at))
		}
	}
	check := func(name string, selector **metav1.LabelSelector) {
		if *selector == nil {
			*selector = &metav1.LabelSelector{}
		}
		if _, err := metav1.LabelSelectorAsSelector(*selector); err != nil {
			problems = append(problems, problem(object, field+name, "%s: %v", field+name, err))
		}
	}
	check(".namespaceSelector", &match.NamespaceSelector)
	check(".objectSelector", &match.ObjectSelector)
	if match.MatchPolicy == nil {
		equivalent := admissionv1.Equivalent
		match.MatchPolicy = &equivalent
	}
	return problems
}

// otherVersion is the error for a policy of a version before v1.
func otherVersion(object *manifest.Object) error {
	if version := object.GroupVersionKind().Version; version != admissionv1.SchemeGroupVersion.Version {
		return problem(object, "apiVersion", "apiVersion: use %s, which has all fields of %s", admissionv1.SchemeGroupVersion, version)
	}
	return nil
}

// unknownField matches the path in an error of strict decoding.
var unknownField = regexp.MustCompile(`^unknown field "(.*)"$`)

// read decodes a policy or a binding into its type, strictly.
func read(object *manifest.Object, into metav1.Object) (problems []error) {
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, into, true)
	if strict, ok := runtime.AsStrictDecodingError(err); ok {
		for _, err := range strict.Errors() {
			field := ""
			if match := unknownField.FindStringSubmatch(err.Error()); match != nil {
				field = match[1]
			}
			problems = append(problems, problem(object, field, "%v", err))
		}
	} else if err != nil {
		problems = append(problems, problem(object, "", "%v", err))
	}
	if into.GetName() == "" {
		problems = append(problems, problem(object, "metadata.name", "metadata.name: must not be empty"))
	}
	return problems
}

// problem is an error in a field of an object, with its position.
func problem(object *manifest.Object, field, format string, args ...any) error {
	at, _ := object.Position(field)
	return fmt.Errorf("%s:%d:%d: %s", object.File.Name, at.Line, at.Column, fmt.Sprintf(format, args...))
}
