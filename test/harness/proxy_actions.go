package harness

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Exchange is a request and where its answer goes.
type Exchange struct {
	Writer  http.ResponseWriter
	Request *http.Request
	// Removed is closed when the rule ends, Closed when the proxy does.
	Removed, Closed <-chan struct{}
}

// Action is what happens to a request that a rule hits. forward sends it on and writes the answer.
type Action func(x Exchange, forward func(http.ResponseWriter))

// abort ends the request without an answer.
func abort() { panic(http.ErrAbortHandler) }

// Answer answers with a status code instead of the API server.
func Answer(code int) Action { return AnswerRetryAfter(code, 0) }

// AnswerRetryAfter is Answer that asks the client to retry after a time, in whole seconds.
func AnswerRetryAfter(code int, after time.Duration) Action {
	reasons := map[int]metav1.StatusReason{
		http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound,
		http.StatusConflict: metav1.StatusReasonConflict, http.StatusGone: metav1.StatusReasonExpired,
		http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests, http.StatusInternalServerError: metav1.StatusReasonInternalError,
		http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable, http.StatusGatewayTimeout: metav1.StatusReasonTimeout,
	}
	return func(x Exchange, _ func(http.ResponseWriter)) {
		seconds := int32(math.Ceil(after.Seconds()))
		if seconds > 0 {
			x.Writer.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		}
		reason, known := reasons[code]
		if !known { // a gateway's answer is no Status
			http.Error(x.Writer, http.StatusText(code), code)
			return
		}
		x.Writer.Header().Set("Content-Type", "application/json")
		x.Writer.WriteHeader(code)
		_ = json.NewEncoder(x.Writer).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure, Code: int32(code), Reason: reason,
			Message: "injected by a test: " + http.StatusText(code), Details: &metav1.StatusDetails{RetryAfterSeconds: seconds},
		})
	}
}

// Delay sends the request on after a time.
func Delay(by time.Duration) Action {
	return func(x Exchange, forward func(http.ResponseWriter)) {
		select {
		case <-time.After(by):
		case <-x.Request.Context().Done():
			abort()
		case <-x.Closed:
			abort()
		}
		forward(x.Writer)
	}
}

// Hang never answers and sends nothing on. The connection ends with the rule.
func Hang() Action {
	return func(x Exchange, _ func(http.ResponseWriter)) {
		x.wait()
		abort()
	}
}

// Swallow never answers either, not even when the rule has ended. Only the client can end the request.
func Swallow() Action {
	return func(x Exchange, _ func(http.ResponseWriter)) {
		x.Removed = nil
		x.wait()
	}
}

// Hold sends the request on when the rule ends.
func Hold() Action {
	return func(x Exchange, forward func(http.ResponseWriter)) {
		x.wait()
		forward(x.Writer)
	}
}

// wait waits for the end of the rule. It does not return if the client or the proxy is gone.
func (x Exchange) wait() {
	select {
	case <-x.Removed:
	case <-x.Request.Context().Done():
		abort()
	case <-x.Closed:
		abort()
	}
}

// Drop ends the connection. The API server does not get the request.
func Drop() Action { return func(Exchange, func(http.ResponseWriter)) { abort() } }

// LoseAnswer sends the request on and then ends the connection instead of answering.
func LoseAnswer() Action {
	return func(_ Exchange, forward func(http.ResponseWriter)) {
		forward(discard{http.Header{}})
		abort()
	}
}

// discard is an answer that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

// Do calls a function with each request before it is sent on.
func Do(call func(Request)) Action {
	return func(x Exchange, forward func(http.ResponseWriter)) {
		call(*requestOf(x.Request))
		forward(x.Writer)
	}
}
