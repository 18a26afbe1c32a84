package s3store

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"kyklos.io/kyklos/internal/archive"
)

// translated puts an answer of the store in archive's words, followed by the store's own, or by why there is no
// answer. What the SDK tells beside that helps nobody who reads a Workspace's status.
func translated(what string, err error) error {
	if err == nil {
		return nil
	}
	status := 0
	if response := (*awshttp.ResponseError)(nil); errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	return fmt.Errorf("%s: %w: %w", what, archive.FromStatus(status, codeOf(err)), plain{err})
}

// plain is an error of the SDK that is told in short.
type plain struct{ error }

// Unwrap is the whole of it.
func (p plain) Unwrap() error { return p.error }

// Error is what the store said, with the request's ID for its administrator; or why it could not be asked.
func (p plain) Error() string {
	request := ""
	if response := (*awshttp.ResponseError)(nil); errors.As(p.error, &response) && response.ServiceRequestID() != "" {
		request = " (request " + response.ServiceRequestID() + ")"
	}
	if api := smithy.APIError(nil); errors.As(p.error, &api) {
		return strings.TrimSuffix(api.ErrorCode()+": "+strings.TrimRight(api.ErrorMessage(), "."), ": ") + request
	}
	if sent := (*url.Error)(nil); errors.As(p.error, &sent) {
		return sent.Err.Error()
	}
	return p.error.Error()
}

// codeOf is the code of the error that the store answered, if it did.
func codeOf(err error) string {
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
