package s3store

import (
	"errors"
	"fmt"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"

	"kyklos.io/kyklos/internal/archive"
)

// translated puts an answer of the store in archive's words.
func translated(what string, err error) error {
	if err == nil {
		return nil
	}
	status := 0
	if response := (*awshttp.ResponseError)(nil); errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	return fmt.Errorf("%s: %w: %w", what, archive.FromStatus(status, codeOf(err)), err)
}

// codeOf is the code of the error that the store answered, if it did.
func codeOf(err error) string {
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}
