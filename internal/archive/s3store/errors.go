package s3store

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"kyklos.io/kyklos/internal/archive"
)

// wrap translates an answer of the store to one of archive's errors, followed by the store's message or the reason why
// there is no answer. The SDK's other details do not help readers of a Workspace's status.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	if role, ok := errors.AsType[*roleError](err); ok {
		return fmt.Errorf("%s: %w", what, role)
	}
	return fmt.Errorf("%s: %w: %w", what, kindOf(err), shortError{err})
}

// kindOf is the one of archive's errors that an answer means.
func kindOf(err error) error {
	status := 0
	if response := (*awshttp.ResponseError)(nil); errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	return archive.FromStatus(status, codeOf(err))
}

// shortError shortens an error of the SDK.
type shortError struct{ error }

// Unwrap is the SDK's error.
func (p shortError) Unwrap() error { return p.error }

// Error is the store's message, with the request's ID for its administrator; or why there is no answer.
func (p shortError) Error() string { return printable(p.text()) }

// printable is one line of at most maxMessage characters: stores may answer anything, and a status shows it.
func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	if long := []rune(text); len(long) > maxMessage {
		return string(long[:maxMessage]) + "..."
	}
	return text
}

func (p shortError) text() string {
	request := ""
	if response := (*awshttp.ResponseError)(nil); errors.As(p.error, &response) && response.ServiceRequestID() != "" {
		request = " (request " + response.ServiceRequestID() + ")"
	}
	if response := (*awshttp.ResponseError)(nil); errors.As(p.error, &response) && response.HTTPStatusCode() == http.StatusNotFound && codeOf(p.error) == "" {
		return "what answers is no S3 store: 404 Not Found"
	}
	if api := smithy.APIError(nil); errors.As(p.error, &api) {
		return strings.TrimSuffix(api.ErrorCode()+": "+strings.TrimRight(api.ErrorMessage(), "."), ": ") + request
	}
	if sent := (*url.Error)(nil); errors.As(p.error, &sent) {
		return sent.Err.Error()
	}
	return p.error.Error()
}

// codeOf is the store's error code, if it answered with one. The SDK makes up NotFound for an answer without: it is that to a HEAD, which
// has no body, or none of an S3 store.
func codeOf(err error) string {
	api, operation := smithy.APIError(nil), (*smithy.OperationError)(nil)
	if !errors.As(err, &api) || api.ErrorCode() == "UnknownError" {
		return ""
	}
	if api.ErrorCode() == "NotFound" && errors.As(err, &operation) && !strings.HasPrefix(operation.OperationName, "Head") {
		return ""
	}
	return api.ErrorCode()
}
