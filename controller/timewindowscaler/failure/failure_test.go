package failure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestFailureClasses(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	kind := schema.GroupKind{Group: "autoscaling", Kind: "Scale"}
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	proxy := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "PATCH", deployments, "webapp", "<html>", 0, true)
	}
	for name, tc := range map[string]struct {
		err    error
		want   string // stale, refusal, unreachable or "" for a transient failure of the object alone
		metric string
	}{
		"conflict":             {apierrors.NewConflict(deployments, "webapp", errors.New("modified")), "stale", "Conflict"},
		"not found":            {apierrors.NewNotFound(deployments, "webapp"), "stale", "NotFound"},
		"forbidden":            {apierrors.NewForbidden(deployments, "webapp", errors.New("no")), "refusal", "Forbidden"},
		"invalid":              {apierrors.NewInvalid(kind, "webapp", nil), "refusal", "Invalid"},
		"bad request":          {apierrors.NewBadRequest("no"), "refusal", "BadRequest"},
		"method not supported": {apierrors.NewMethodNotSupported(deployments, "patch"), "refusal", "MethodNotAllowed"},
		"unauthorized":         {apierrors.NewUnauthorized("no"), "refusal", "Unauthorized"},
		"too many requests":    {apierrors.NewTooManyRequests("later", 1), "", "TooManyRequests"},
		"internal error":       {apierrors.NewInternalError(errors.New("etcd")), "", "InternalError"},
		"unavailable":          {apierrors.NewServiceUnavailable("starting"), "unreachable", "ServiceUnavailable"},
		"timeout":              {apierrors.NewTimeoutError("slow", 1), "unreachable", "Timeout"},
		"server timeout":       {apierrors.NewServerTimeout(deployments, "patch", 1), "unreachable", "ServerTimeout"},
		"a proxy's 502":        {proxy(http.StatusBadGateway), "", "InternalError"},
		"a proxy's 503":        {proxy(http.StatusServiceUnavailable), "unreachable", "ServiceUnavailable"},
		"a proxy's 504":        {proxy(http.StatusGatewayTimeout), "unreachable", "Timeout"},
		"connection refused":   {&url.Error{Op: "Patch", URL: "https://10.0.0.1:443", Err: dial}, "unreachable", "Unreachable"},
		"no such host":         {&url.Error{Op: "Patch", URL: "https://api", Err: &net.DNSError{IsNotFound: true}}, "unreachable", "Unreachable"},
		"connection lost":      {&url.Error{Op: "Patch", URL: "https://api", Err: io.ErrUnexpectedEOF}, "unreachable", "Unreachable"},
		"end of file":          {io.EOF, "unreachable", "Unreachable"},
		"request timed out":    {context.DeadlineExceeded, "unreachable", "Unreachable"},
	} {
		for _, err := range []error{tc.err, fmt.Errorf("wrapped: %w", tc.err)} {
			got := map[string]bool{"stale": IsStale(err), "refusal": IsRefusal(err), "unreachable": IsUnreachable(err)}
			for class, is := range got {
				if is != (class == tc.want) {
					t.Errorf("%s (%v): %s is %v", name, err, class, is)
				}
			}
			if reason := Reason(err); reason != tc.metric {
				t.Errorf("%s (%v): reason %q, want %q", name, err, reason, tc.metric)
			}
		}
	}
	if IsStale(nil) || IsRefusal(nil) || IsUnreachable(nil) {
		t.Error("success is a failure")
	}
}
