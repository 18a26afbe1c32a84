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
	status, code := 0, ""
	if response := (*awshttp.ResponseError)(nil); errors.As(err, &response) {
		status = response.HTTPStatusCode()
	}
	if api := smithy.APIError(nil); errors.As(err, &api) {
		code = api.ErrorCode()
	}
	return fmt.Errorf("%s: %w: %w", what, archive.FromStatus(status, code), err)
}
