package policy_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/cli/lint/policy"
	"kyklos.io/kyklos/cli/manifest"
)

func parse(t *testing.T, name, text string) []*manifest.Object {
	t.Helper()
	objects, problems := manifest.Parse(&manifest.File{Name: name, Data: []byte(text)})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return objects
}

// policyOf is a policy for scalers with the rest of its spec.
func policyOf(spec string) string {
	return `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: rule}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [kyklos.io], apiVersions: [v1beta1], operations: ["*"], resources: [timewindowscalers]}]
` + spec
}

const scaler = `apiVersion: kyklos.io/v1beta1
kind: TimeWindowScaler
metadata: {name: office}
spec:
  timezone: Europe/Berlin
`

func load(t *testing.T, given string, set []*manifest.Object) *policy.Policies {
	t.Helper()
	policies, err := policy.Load(parse(t, "policies.yaml", given), set)
	if err != nil {
		t.Fatal(err)
	}
	return policies
}

// evaluated returns the findings about creating the set's first object, as severity, line, field and message.
func evaluated(t *testing.T, policies *policy.Policies, set []*manifest.Object) (all []string) {
	t.Helper()
	for _, f := range policies.Evaluate(t.Context(), policy.Request{Object: set[0], Namespace: "shop", New: set[0].Object}) {
		if f.Rule != lint.Policy || f.Object != set[0] || f.At.Line == 0 {
			t.Errorf("%+v is not about the object", f)
		}
		all = append(all, strings.Join([]string{string(f.Severity), f.Field, f.Message}, ": "))
	}
	return all
}

func TestEvaluate(t *testing.T) {
	const bound = `
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: here}
spec: {policyName: rule, validationActions: [Deny]`
	const namespace = "\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: blue}}"
	const byLabel = bound + ", matchResources: {namespaceSelector: {matchLabels: {team: blue}}}}"
	for name, c := range map[string]struct {
		policies, set string
		want          []string
	}{
		"without a binding it is bound everywhere": {
			policyOf("  validations: [{expression: object.spec.timezone == 'UTC', message: only UTC}]"), scaler,
			[]string{"error: spec.timezone: ValidatingAdmissionPolicy 'rule' denied request: only UTC"},
		},
		"taken": {policyOf("  validations: [{expression: object.spec.timezone != 'UTC'}]"), scaler, nil},
		"a Namespace that is not there": {
			policyOf("  validations: [{expression: 'false'}]") + byLabel, scaler, []string{"warning: : ValidatingAdmissionPolicy 'rule' cannot be evaluated: " +
				"it selects namespaces by label, and Namespace shop is not in the manifests: add it with --policy"},
		},
		"a Namespace beside the policies": {
			policyOf("  validations: [{expression: 'false'}]") + byLabel + namespace, scaler,
			[]string{"error: : ValidatingAdmissionPolicy 'rule' with binding 'here' denied request: failed expression: false"},
		},
		"a Namespace in the set": {
			policyOf("  validations: [{expression: 'false'}]") + byLabel, scaler + strings.ReplaceAll(namespace, "blue", "red"), nil,
		},
		"the name of a Namespace is known": {
			policyOf("  validations: [{expression: 'false'}]") + bound +
				", matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: other}}}}", scaler, nil,
		},
		"and decides": {
			policyOf("  validations: [{expression: 'false'}]") + bound +
				", matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}}}", scaler,
			[]string{"error: : ValidatingAdmissionPolicy 'rule' with binding 'here' denied request: failed expression: false"},
		},
		"namespaceObject": {
			policyOf("  validations: [{expression: namespaceObject.metadata.labels.team == 'blue'}]"), scaler,
			[]string{"warning: : ValidatingAdmissionPolicy 'rule' cannot be evaluated: " +
				"it reads the Namespace (namespaceObject), and Namespace shop is not in the manifests: add it with --policy"},
		},
		"authorizer": {
			policyOf("  validations: [{expression: authorizer.group('').resource('pods').check('get').allowed()}]"), scaler,
			[]string{"warning: : ValidatingAdmissionPolicy 'rule' cannot be evaluated: " +
				"it checks permissions (authorizer), which are only known in a cluster"},
		},
		"no authorizer but its name": {policyOf("  validations: [{expression: object.metadata.name != 'authorizer'}]"), scaler, nil},
		"the user of a request": {
			policyOf("  validations:\n  - expression: request.userInfo.username == 'kyklos-lint' && request.userInfo.groups == ['system:authenticated']"), scaler, nil,
		},
		"a custom resource whose definition is in the set": {
			strings.ReplaceAll(policyOf("  validations: [{expression: 'false'}]"), "kyklos.io", "example.com"),
			strings.ReplaceAll(scaler, "kyklos.io/v1beta1", "example.com/v1") + `
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: timewindowscalers.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: TimeWindowScaler, plural: timewindowscalers}
  versions: [{name: v1, served: true}, {name: v1beta1, served: true}, {name: v1alpha1, served: false}]
`, []string{"error: : ValidatingAdmissionPolicy 'rule' denied request: failed expression: false"},
		},
		"defaults of built-in kinds are not known": {
			strings.NewReplacer("kyklos.io", "apps", "v1beta1", "v1", "timewindowscalers", "deployments").Replace(policyOf(
				"  validations: [{expression: object.spec.replicas < 5}]")),
			"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {}\n",
			[]string{"warning: : ValidatingAdmissionPolicy 'rule' cannot be evaluated: expression 'object.spec.replicas < 5' resulted in error: " +
				"no such key: replicas; the API server sets defaults for this kind, which are not known here"},
		},
		"policies are exempt": {
			strings.NewReplacer("kyklos.io", "'*'", "v1beta1", "'*'", "timewindowscalers", "'*'").Replace(policyOf("  validations: [{expression: 'false'}]")),
			policyOf(""), nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			set := parse(t, "set.yaml", c.set)
			if diff := cmp.Diff(c.want, evaluated(t, load(t, c.policies, set), set)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if found := (*policy.Policies)(nil).Evaluate(t.Context(), policy.Request{}); found != nil {
		t.Error("no policies say", found)
	}
}

// Evaluate does not change its arguments.
func TestEvaluateReadsOnly(t *testing.T) {
	set := parse(t, "set.yaml", scaler)
	policies := load(t, policyOf("  validations: [{expression: 'object.metadata.generation == 1 && object.metadata.namespace == \"shop\"'}]"), set)
	if all := evaluated(t, policies, set); all != nil {
		t.Error(all)
	}
	if diff := cmp.Diff(parse(t, "set.yaml", scaler)[0].Object, set[0].Object); diff != "" {
		t.Error(diff)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ given, want string }{
		"nothing": {scaler, "no ValidatingAdmissionPolicy in the given policies"},
		"an older version": {
			strings.Replace(policyOf("  validations: [{expression: 'true'}]"), "io/v1\n", "io/v1beta1\n", 1),
			"p.yaml:1:13: apiVersion: use admissionregistration.k8s.io/v1, which has all fields of v1beta1",
		},
		"a field that does not exist": {
			policyOf("  validations: [{expression: 'true', massage: x}]"), `p.yaml:7:47: unknown field "spec.validations[0].massage"`,
		},
		"no expression": {policyOf(""), "p.yaml:4:1: spec.validations: must have at least one"},
		"syntax": {
			policyOf("  validations: [{expression: 'object.'}]"),
			"p.yaml:7:30: spec.validations[0].expression: compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'\n" +
				" | object.\n | .......^",
		},
		"a type": {
			policyOf("  validations: [{expression: 'true'}, {expression: 1 + 1}]"),
			"p.yaml:7:52: spec.validations[1].expression: must evaluate to bool but got int",
		},
		"a variable": {
			policyOf("  variables: [{name: a, expression: nothing}]\n  validations: [{expression: 'true'}]"),
			"p.yaml:7:37: spec.variables[0].expression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'nothing' (in container '')\n | nothing\n | ^",
		},
		"a message of another type": {
			policyOf("  validations: [{expression: 'true', messageExpression: '1'}]"),
			"p.yaml:7:57: spec.validations[0].messageExpression: must evaluate to string but got int",
		},
		"a condition": {
			policyOf("  matchConditions: [{name: a, expression: '\"a\"'}]\n  validations: [{expression: 'true'}]"),
			"p.yaml:7:43: spec.matchConditions[0].expression: must evaluate to bool but got string",
		},
		"an annotation": {
			policyOf("  auditAnnotations: [{key: a, valueExpression: '1'}]"),
			"p.yaml:7:48: spec.auditAnnotations[0].valueExpression: must evaluate to one of [string null_type] but got int",
		},
		"params without a paramKind": {
			policyOf("  validations: [{expression: params == null}]"),
			"p.yaml:7:30: spec.validations[0].expression: compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params == null\n | ^",
		},
		"params without a binding": {
			policyOf("  paramKind: {apiVersion: v1, kind: ConfigMap}\n  validations: [{expression: params == null}]"),
			"p.yaml:7:3: the policy has params, but no ValidatingAdmissionPolicyBinding with policyName rule is given: add it",
		},
		"a failure policy": {
			policyOf("  failurePolicy: Maybe\n  validations: [{expression: 'true'}]"), `p.yaml:7:18: spec.failurePolicy: must be Fail or Ignore, not "Maybe"`,
		},
		"a rule without operations": {
			strings.Replace(policyOf("  validations: [{expression: 'true'}]"), `operations: ["*"], `, "", 1),
			"p.yaml:6:21: spec.matchConstraints.resourceRules[0]: must have operations, apiGroups, apiVersions and resources",
		},
		"a binding": {
			policyOf("  validations: [{expression: 'true'}]") + "\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n" +
				"metadata: {name: b}\nspec:\n  validationActions: [Refuse]\n  paramRef: {}\n  matchResources: {objectSelector: {matchExpressions: [{key: a, operator: Is}]}}\n",
			"p.yaml:12:1: spec.policyName: must name the bound policy\n" +
				`p.yaml:13:23: spec.validationActions[0]: must be Deny, Warn or Audit, not "Refuse"` + "\n" +
				"p.yaml:14:3: spec.paramRef: must have either name or selector\n" +
				`p.yaml:15:20: spec.matchResources.objectSelector: "Is" is not a valid label selector operator`,
		},
		"a binding without actions": {
			policyOf("  validations: [{expression: 'true'}]") + "\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n" +
				"metadata: {name: b}\nspec: {policyName: rule}\n",
			"p.yaml:12:1: spec.validationActions: must have Deny, Warn or Audit",
		},
	} {
		_, err := policy.Load(parse(t, "p.yaml", c.given), nil)
		if err == nil {
			t.Errorf("%s: it is loaded", name)
		} else if diff := cmp.Diff(c.want, err.Error()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
