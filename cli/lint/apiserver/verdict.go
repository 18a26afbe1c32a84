package apiserver

import (
	"errors"
	"regexp"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// Verdict is what the server says of one object.
type Verdict struct {
	// Errors are why it refuses the object, in its order; none if it takes it.
	Errors []Refusal
	// Warnings are what it tells the client beside that, without those of webhooks.
	Warnings []string
	// Object is what it made of the object when it stopped, defaults and all: what it would store, if there are no
	// Errors. It is nil if the object could not be read.
	Object map[string]any
}

// Refusal is one reason to refuse an object.
type Refusal struct {
	Rule Rule
	// Field is the path of the field, as the server writes it: spec.windows[1].days[0]; "" and "<nil>" are the object as a whole.
	Field string
	// Message is what the server says of the field, without the path; of a text that it cannot read, all that it says of it.
	Message string
}

// Rule is the kind of a refusal. It reads as the rules of package lint do.
type Rule string

// The kinds of refusals.
const (
	UnknownField   Rule = "unknown-field"
	DuplicateField Rule = "duplicate-field"
	Invalid        Rule = "invalid" // all else
)

var (
	ofField    = regexp.MustCompile(`(?s)^(unknown|duplicate) field "(.*)"$`)
	ofKey      = regexp.MustCompile(`line (\d+): key "(.*)" already set in map`)
	ofMetadata = regexp.MustCompile(`Go struct field ObjectMeta\.(?:metadata\.)?(\S+) of type`)
)

// undecoded are the errors of a text that cannot be decoded, or not strictly.
func undecoded(err error, text []byte) (all []Refusal) {
	strict, ok := runtime.AsStrictDecodingError(err)
	if !ok {
		e := Refusal{Rule: Invalid, Message: err.Error()}
		if match := ofMetadata.FindStringSubmatch(e.Message); match != nil {
			e.Field = "metadata." + match[1]
		}
		return []Refusal{e}
	}
	for _, err := range strict.Errors() {
		match := ofField.FindStringSubmatch(err.Error())
		switch {
		case match == nil:
			all = append(all, twice(err.Error(), text)...)
		case match[1] == "unknown":
			all = append(all, Refusal{Rule: UnknownField, Field: match[2], Message: "unknown field"})
		default:
			all = append(all, Refusal{Rule: DuplicateField, Field: match[2], Message: "duplicate field"})
		}
	}
	return all
}

// refused are the errors of a request that was decoded.
func refused(err error) (all []Refusal) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return []Refusal{{Rule: Invalid, Message: err.Error()}}
	}
	for _, cause := range status.Status().Details.Causes {
		r := Refusal{Rule: Invalid, Field: cause.Field, Message: cause.Message}
		if !slices.Contains(all, r) { // metadata is looked at twice
			all = append(all, r)
		}
	}
	return all
}
