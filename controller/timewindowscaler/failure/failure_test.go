package failure_test

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
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/controller/timewindowscaler/failure"
)

func TestFailureClasses(t *testing.T) {
	deployments := schema.GroupResource{Group: "apps", Resource: "deployments"}
	kind := schema.GroupKind{Group: "autoscaling", Kind: "Scale"}
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	proxy := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "PATCH", deployments, "webapp", "<html>", 0, true)
	}
	webhook := func(why string) error {
		return apierrors.NewInternalError(fmt.Errorf("failed calling webhook \"policy.example.com\": failed to call webhook: %s", why))
	}
	const now, soon, later = "stale", "soon", "later" // when it is retried
	for name, tc := range map[string]struct {
		err           error
		first, second string // after the first failure in a row, and after the second
		metric        string
	}{
		"conflict":               {apierrors.NewConflict(deployments, "webapp", errors.New("modified")), now, now, "Conflict"},
		"not found":              {apierrors.NewNotFound(deployments, "webapp"), now, now, "NotFound"},
		"forbidden":              {apierrors.NewForbidden(deployments, "webapp", errors.New("no")), later, later, "Forbidden"},
		"invalid":                {apierrors.NewInvalid(kind, "webapp", nil), later, later, "Invalid"},
		"bad request":            {apierrors.NewBadRequest("no"), later, later, "BadRequest"},
		"method not supported":   {apierrors.NewMethodNotSupported(deployments, "patch"), later, later, "MethodNotAllowed"},
		"unauthorized":           {apierrors.NewUnauthorized("no"), later, later, "Unauthorized"},
		"an unreachable webhook": {webhook("connection refused"), soon, later, "InternalError"},
		"a webhook that hangs":   {webhook("context deadline exceeded"), soon, later, "InternalError"},
		"too many requests":      {apierrors.NewTooManyRequests("later", 1), soon, soon, "TooManyRequests"},
		"internal error":         {apierrors.NewInternalError(errors.New("etcd")), soon, soon, "InternalError"},
		"unavailable":            {apierrors.NewServiceUnavailable("starting"), soon, soon, "ServiceUnavailable"},
		"timeout":                {apierrors.NewTimeoutError("slow", 1), soon, soon, "Timeout"},
		"server timeout":         {apierrors.NewServerTimeout(deployments, "patch", 1), soon, soon, "ServerTimeout"},
		"a proxy's 502":          {proxy(http.StatusBadGateway), soon, soon, "InternalError"},
		"a proxy's 503":          {proxy(http.StatusServiceUnavailable), soon, soon, "ServiceUnavailable"},
		"a proxy's 504":          {proxy(http.StatusGatewayTimeout), soon, soon, "Timeout"},
		"connection refused":     {&url.Error{Op: "Patch", URL: "https://10.0.0.1:443", Err: dial}, soon, soon, "Unreachable"},
		"no such host":           {&url.Error{Op: "Patch", URL: "https://api", Err: &net.DNSError{IsNotFound: true}}, soon, soon, "Unreachable"},
		"connection lost":        {&url.Error{Op: "Patch", URL: "https://api", Err: io.ErrUnexpectedEOF}, soon, soon, "Unreachable"},
		"end of file":            {io.EOF, soon, soon, "Unreachable"},
		"request timed out":      {context.DeadlineExceeded, soon, soon, "Unreachable"},
	} {
		for _, err := range []error{tc.err, fmt.Errorf("wrapped: %w", tc.err)} {
			for failures, want := range map[int]string{1: tc.first, 2: tc.second, 100: tc.second} {
				got := map[time.Duration]string{time.Second: soon, 30 * time.Second: later}[failure.RetryAfter(err, failures)]
				if failure.IsStale(err) {
					got = now
				}
				if got != want {
					t.Errorf("%s (%v), %d in a row: %s, want %s", name, err, failures, got, want)
				}
			}
			if reason := failure.Reason(err); reason != tc.metric {
				t.Errorf("%s (%v): reason %q, want %q", name, err, reason, tc.metric)
			}
		}
	}
	if failure.IsStale(nil) || failure.IsRefusal(nil) {
		t.Error("success is a failure")
	}
}

// Trouble of the API server, of a webhook and refusals by a policy end at different times.
func TestAlikeFailures(t *testing.T) {
	failures := []error{
		apierrors.NewServiceUnavailable("starting"),
		apierrors.NewInternalError(errors.New(`failed calling webhook "policy.example.com"`)),
		apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "webapp", errors.New("no")),
	}
	for i, a := range failures {
		for j, b := range failures {
			if failure.AreAlike(a, b) != (i == j) {
				t.Errorf("%v and %v: %v", a, b, i != j)
			}
		}
	}
	if !failure.AreAlike(failures[0], io.EOF) {
		t.Error("an outage has many errors")
	}
}

// Ports, versions and times in a message change with each attempt.
func TestSameText(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"read tcp 127.0.0.1:40210->10.0.0.1:443: reset", "read tcp 127.0.0.1:40318->10.0.0.1:443: reset", true},
		{"policy freeze", "policy quota", false},
	} {
		if failure.SameText(errors.New(tc.a), errors.New(tc.b)) != tc.want {
			t.Errorf("%q and %q: want %v", tc.a, tc.b, tc.want)
		}
	}
}
