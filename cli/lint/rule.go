package lint

// Rule identifies a kind of finding.
type Rule string

// The rules for single objects, checked by the API server and by the webhooks of Kyklos.
const (
	UnknownField   Rule = "unknown-field"   // strict decoding: the schema has no such field
	DuplicateField Rule = "duplicate-field" // strict decoding: the field is set twice
	Invalid        Rule = "invalid"         // schema, list types, metadata and CEL
	Refused        Rule = "refused"         // the validating webhooks of Kyklos
	Warned         Rule = "warned"          // warnings of Kyklos and of the API server
	OctalNumber    Rule = "octal-number"    // YAML reads another number than is written
	Policy         Rule = "policy"          // a ValidatingAdmissionPolicy
)

// The rules for objects that affect each other. Those that the webhooks of Kyklos check too have the same ids
// in package admission.
const (
	TargetShared       Rule = "target-shared"
	TargetMissing      Rule = "target-missing"
	TargetKind         Rule = "target-kind"
	TargetControlled   Rule = "target-controlled"
	TargetAutoscaled   Rule = "target-autoscaled"
	TargetSetsReplicas Rule = "target-sets-replicas"
	ArgoCDReplicas     Rule = "argocd-replicas"
	Holidays           Rule = "holidays"
	MetricsMissing     Rule = "metrics-missing"
	StoreMissing       Rule = "store-missing"
	NameTaken          Rule = "name-taken"
	DuplicateObject    Rule = "duplicate-object"
)

// Rules are all rules with their descriptions, in the order of docs/lint.md.
var Rules = []struct {
	Rule Rule
	Text string
}{
	{UnknownField, "A field that the schema does not have. The API server refuses it with strict field validation, which kubectl uses."},
	{DuplicateField, "A field that is set twice. The API server refuses it with strict field validation; kubectl only sends the last one of a YAML file."},
	{Invalid, "Refused by the schema, by the CEL rules of the CustomResourceDefinition or because of the object's metadata."},
	{Refused, "Refused by the validating webhook of Kyklos."},
	{Warned, "Accepted with a warning by Kyklos or the API server."},
	{OctalNumber, "A number with a leading zero, which YAML reads as octal: 010 is 8."},
	{Policy, "Refused by a ValidatingAdmissionPolicy, or accepted with its warning."},
	{TargetShared, "Two TimeWindowScalers with the same target: a workload can have only one."},
	{TargetKind, "A target whose kind does not exist or cannot be scaled."},
	{TargetMissing, "A target that exists neither in the cluster nor in the manifests."},
	{TargetControlled, "A target that another object controls, such as the ReplicaSet of a Deployment."},
	{TargetAutoscaled, "A HorizontalPodAutoscaler or a KEDA ScaledObject also scales the target: each overwrites what the other sets."},
	{TargetSetsReplicas, "The manifest of a target sets spec.replicas: applying it overwrites what the schedule set."},
	{ArgoCDReplicas, "An Argo CD Application ignores replicas but resets them when it syncs."},
	{Holidays, "A holiday ConfigMap that is missing or empty, has only past dates, or has keys that are not dates."},
	{MetricsMissing, "A window with a metric in a cluster that does not serve external metrics."},
	{StoreMissing, "The Secret of a Workspace's archive does not exist."},
	{NameTaken, "A Pod or PersistentVolumeClaim with the name of a new Workspace's own exists already."},
	{DuplicateObject, "The same object is in the manifests twice: the one that is applied last counts."},
}

// Description returns the rule's description, "" if it is not one of Rules.
func (r Rule) Description() string {
	for _, known := range Rules {
		if known.Rule == r {
			return known.Text
		}
	}
	return ""
}
