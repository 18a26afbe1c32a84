package admission

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Rule identifies the check that produced a finding.
type Rule string

// The rules for TimeWindowScalers.
const (
	NamespaceNotServed  Rule = "namespace-not-served" // both kinds
	ConversionLoss      Rule = "conversion-loss"
	ConversionChange    Rule = "conversion-change"
	ConversionUnclear   Rule = "conversion-unclear"
	ConversionInvalid   Rule = "conversion-invalid"
	ConversionSize      Rule = "conversion-size"
	ScheduleInvalid     Rule = "schedule-invalid"
	TargetNamespace     Rule = "target-namespace"
	TargetShared        Rule = "target-shared"
	TargetKind          Rule = "target-kind"
	TargetPermission    Rule = "target-permission"
	TargetMissing       Rule = "target-missing"
	RequesterPermission Rule = "requester-permission"
	TargetControlled    Rule = "target-controlled"
	TargetAutoscaled    Rule = "target-autoscaled"
	TimezoneUnknown     Rule = "timezone-unknown"
	TimezoneName        Rule = "timezone-name"
	BaselineUnused      Rule = "baseline-unused"
	ReplicasAboveOne    Rule = "replicas-above-one"
	MetricsMissing      Rule = "metrics-missing"
	MetricFallback      Rule = "metric-fallback"
	WindowRepeated      Rule = "window-repeated"
	WindowCovered       Rule = "window-covered"
	ClockChange         Rule = "clock-change"
	Holidays            Rule = "holidays"
)

// The rules for Workspaces.
const (
	NameTaken       Rule = "name-taken"
	ArchiveMissing  Rule = "archive-missing"
	StoreMissing    Rule = "store-missing"
	StoreChanged    Rule = "store-changed"
	ArchiveTTL      Rule = "archive-ttl"
	NextStart       Rule = "next-start"
	TemplateInvalid Rule = "template-invalid"
)

// Finding is what a rule reports about an object: an error refuses it, a warning does not.
type Finding struct {
	Rule Rule
	// Field is the path of the field, such as spec.windows[0].start.
	Field string
	// Message is what is wrong and what would be right, without the field.
	Message string
	// Other is the object that the message names, in the same namespace; zero if it names none.
	Other Other
	// Err is set for an error; Field and Message repeat what it contains.
	Err *field.Error
}

// Other names an object other than the checked one.
type Other struct {
	schema.GroupKind
	Name string
}

// String is the finding as the API server prints it to the client.
func (f Finding) String() string { return f.Field + ": " + f.Message }

// Findings are in the order in which they are reported, the most important first.
type Findings []Finding

// Errors are the errors among the findings.
func (all Findings) Errors() (errs field.ErrorList) {
	for _, f := range all {
		if f.Err != nil {
			errs = append(errs, f.Err)
		}
	}
	return errs
}

// Warnings are the texts of the warnings. Each is shorter than 250 bytes: the API server may cut longer ones.
func (all Findings) Warnings() (texts []string) {
	for _, f := range all {
		if f.Err == nil {
			texts = append(texts, f.String())
		}
	}
	return texts
}

func (all *Findings) refuse(rule Rule, other Other, errs ...*field.Error) {
	for _, err := range errs {
		*all = append(*all, Finding{Rule: rule, Field: err.Field, Message: err.ErrorBody(), Other: other, Err: err})
	}
}

func (all *Findings) warn(rule Rule, path *field.Path, format string, args ...any) {
	*all = append(*all, Finding{Rule: rule, Field: path.String(), Message: fmt.Sprintf(format, args...)})
}

// warnOf is warn for a message that names another object.
func (all *Findings) warnOf(other Other, rule Rule, path *field.Path, format string, args ...any) {
	all.warn(rule, path, format, args...)
	(*all)[len(*all)-1].Other = other
}

// maxListed is how many warnings of one kind are reported for the items of a list.
const maxListed = 4

// warnListed adds the first maxListed warnings, and one at path that counts the rest of total.
func (all *Findings) warnListed(listed Findings, total int, path *field.Path, rest string) {
	listed = listed[:min(maxListed, len(listed))]
	*all = append(*all, listed...)
	if more := total - len(listed); more > 0 {
		all.warn(listed[0].Rule, path, "%d more %s", more, rest)
	}
}

// warnNotServed reports that no manager may reconcile the object, because of a flag, if it is not empty. A manager without webhooks may still do so.
func (all *Findings) warnNotServed(namespace, flag string) {
	if flag != "" {
		all.warn(NamespaceNotServed, field.NewPath("metadata", "namespace"),
			"this Kyklos does not serve namespace %s (flag %s): nothing happens here unless another Kyklos does", quote(namespace), flag)
	}
}

// maxNameLength is how many bytes of a name a message shows, so that warnings stay short enough.
const maxNameLength = 40

// quote returns the name in quotes, shortened.
func quote(name string) string { return `"` + shorten(name) + `"` }

// shorten cuts s to maxNameLength bytes. Warnings are sent in an HTTP header, so everything but printable
// ASCII, which no name in a cluster contains, is replaced.
func shorten(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	if len(s) <= maxNameLength {
		return s
	}
	return s[:maxNameLength-len("...")] + "..."
}

// firstOf joins up to most items and counts the rest: "a, b and 3 more".
func firstOf(items []string, most int) string {
	list := strings.Join(items[:min(most, len(items))], ", ")
	if rest := len(items) - most; rest > 0 {
		list += fmt.Sprintf(" and %d more", rest)
	}
	return list
}
