package manager

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// A leader whose Lease another one may hold writes nothing, but reads and answers webhooks.
func TestFence(t *testing.T) {
	clients := fake.NewClientset()
	lock, err := resourcelock.New(resourcelock.LeasesResourceLock, "default", leaseName,
		clients.CoreV1(), clients.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: "me"})
	if err != nil {
		t.Fatal(err)
	}
	var now time.Duration
	f := &fence{Interface: lock, elapsed: func() time.Duration { return now }}
	sent := 0
	transport := f.transport(roundTripper(func(*http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	expect := func(moment, method, path string, passes bool) {
		t.Helper()
		before := sent
		response, err := transport.RoundTrip(httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("{}")))
		if err == nil {
			defer response.Body.Close()
		}
		if (err == nil) != passes || (sent > before) != passes || !passes && !errors.Is(err, errFenced) {
			t.Errorf("%s: %s %s: %v, %d requests sent", moment, method, path, err, sent-before)
		}
	}
	hold := func(identity string) {
		t.Helper()
		record := resourcelock.LeaderElectionRecord{HolderIdentity: identity}
		write := f.Update
		if _, _, err := f.Get(t.Context()); err != nil {
			write = f.Create
		}
		if err := write(t.Context(), record); err != nil {
			t.Fatal(err)
		}
	}
	const scale, review = "/apis/apps/v1/namespaces/default/deployments/web/scale", "/apis/authorization.k8s.io/v1/subjectaccessreviews"

	now = time.Hour
	expect("it never led", http.MethodPatch, scale, true)
	hold("me")
	now += leaseDuration - 1
	expect("before the end", http.MethodPatch, scale, true)
	hold("me")
	now += leaseDuration - 1
	expect("renewed", http.MethodPatch, scale, true)
	hold("")
	now++
	for _, method := range []string{http.MethodPatch, http.MethodPut, http.MethodPost, http.MethodDelete} {
		expect("expired", method, scale, false)
	}
	expect("expired", http.MethodGet, scale, true)
	expect("expired", http.MethodPost, review, true)
	hold("me")
	expect("renewed after it had expired", http.MethodPatch, scale, true)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }
