package lint

// Rule is the name of a kind of finding.
type Rule string

// The rules of findings about one object, in the words of the API server and of Kyklos's webhooks.
const (
	UnknownField   Rule = "unknown-field"   // strict decoding: the schema has no such field
	DuplicateField Rule = "duplicate-field" // strict decoding: the field is there twice
	Invalid        Rule = "invalid"         // schema, list types, metadata and CEL
	Refused        Rule = "refused"         // Kyklos's validating webhook
	Warned         Rule = "warned"          // Kyklos's warnings, and those of the API server
	Policy         Rule = "policy"          // a ValidatingAdmissionPolicy of the organisation
)

// The rules of findings about what objects do to each other. Those that Kyklos's webhooks know of too
// have their words.
const (
	TargetShared       Rule = "target-shared"
	TargetMissing      Rule = "target-missing"
	TargetKind         Rule = "target-kind"
	TargetAutoscaled   Rule = "target-autoscaled"
	TargetSetsReplicas Rule = "target-sets-replicas"
	ArgoCDReplicas     Rule = "argocd-replicas"
	Holidays           Rule = "holidays"
	MetricsMissing     Rule = "metrics-missing"
	StoreMissing       Rule = "store-missing"
	NameTaken          Rule = "name-taken"
	DuplicateObject    Rule = "duplicate-object"
)

// Description says in a sentence what a rule is about.
type Description struct {
	Rule Rule
	Text string
}

// Rules are all rules, in the order of their documentation.
var Rules = []Description{
	{UnknownField, "A field that the schema does not have. The API server refuses it as kubectl asks it to (strict field validation)."},
	{DuplicateField, "A field that is there twice. The API server refuses it if it is sent so (strict field validation); kubectl sends the last one of YAML."},
	{Invalid, "What the API server refuses by the schema, by the CEL rules of the definition or for the object's metadata."},
	{Refused, "What Kyklos's validating webhook refuses."},
	{Warned, "What Kyklos or the API server take and warn of."},
	{Policy, "What a ValidatingAdmissionPolicy of the organisation says."},
	{TargetShared, "Two TimeWindowScalers for one workload: a workload has one at most."},
	{TargetKind, "A target of a kind that does not exist or cannot be scaled."},
	{TargetMissing, "A target that the cluster does not have, nor the manifests."},
	{TargetAutoscaled, "A HorizontalPodAutoscaler or a ScaledObject of KEDA scales the target too: each undoes what the other does."},
	{TargetSetsReplicas, "The manifest of a target sets spec.replicas: whoever applies it undoes what the schedule did."},
	{ArgoCDReplicas, "An Application of Argo CD that ignores replicas, and yet sets them back."},
	{Holidays, "A ConfigMap of holidays that is missing, empty or past, or has keys that are no dates."},
	{MetricsMissing, "A window with a metric, in a cluster where nothing serves external metrics."},
	{StoreMissing, "The Secret of a Workspace's archive is not there."},
	{NameTaken, "A new Workspace whose Pod or volume has a name that is taken."},
	{DuplicateObject, "One object is there twice: the last that is applied counts."},
}
