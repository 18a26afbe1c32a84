package apiserver

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"kyklos.io/kyklos/cli/lint"
	"kyklos.io/kyklos/internal/apischema"
)

// Response is the server's response to a request for one object.
type Response struct {
	// Errors are why the server refuses the object, in its order; none if it accepts it.
	Errors []Error
	// Warnings are sent to the client in either case, without those of webhooks.
	Warnings []string
	// Object is the object with defaults as far as the server got: what it would store, if there are no Errors.
	// It is nil if the object could not be decoded.
	Object map[string]any
}

// Error is one reason to refuse an object.
type Error struct {
	Rule lint.Rule // UnknownField, DuplicateField or Invalid
	// Field is its path as the server writes it: spec.windows[1].days[0]; "" and "<nil>" are the whole object.
	Field string
	// Message is the server's message without the field.
	Message string
	// RulesSkipped: the server did not evaluate the CEL rules because of the other errors.
	RulesSkipped bool
}

var (
	strictError   = regexp.MustCompile(`(?s)^(unknown|duplicate) field "(.*)"$`)
	duplicateKey  = regexp.MustCompile(`line (\d+): key "(.*)" already set in map`)
	metadataError = regexp.MustCompile(`Go struct field ObjectMeta\.(?:metadata\.)?(\S+) of type`)
)

// decodeErrors returns the errors of strict decoding.
func decodeErrors(err error, text []byte) (all []Error) {
	strict, ok := runtime.AsStrictDecodingError(err)
	if !ok {
		e := Error{Rule: lint.Invalid, Message: err.Error()}
		if match := metadataError.FindStringSubmatch(e.Message); match != nil {
			e.Field = "metadata." + match[1]
		}
		return []Error{e}
	}
	for _, err := range strict.Errors() {
		match := strictError.FindStringSubmatch(err.Error())
		switch {
		case match == nil:
			all = append(all, duplicateKeys(err.Error(), text)...)
		case match[1] == "unknown":
			all = append(all, Error{Rule: lint.UnknownField, Field: match[2], Message: "unknown field"})
		default:
			all = append(all, Error{Rule: lint.DuplicateField, Field: match[2], Message: "duplicate field"})
		}
	}
	return all
}

// requestErrors returns the errors of a request that was decoded.
func requestErrors(err error) (all []Error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Details == nil || len(status.Status().Details.Causes) == 0 {
		return []Error{{Rule: lint.Invalid, Message: err.Error()}}
	}
	for _, cause := range status.Status().Details.Causes {
		e := Error{Rule: lint.Invalid, Field: cause.Field, Message: cause.Message, RulesSkipped: strings.HasSuffix(cause.Message, apischema.RulesSkipped)}
		if !slices.Contains(all, e) { // metadata is validated twice
			all = append(all, e)
		}
	}
	return all
}
