package storagemigration

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/metrics"
)

// Each pass reports what is new, and its progress once a minute. Notes are in the golden file.
func TestEvents(t *testing.T) {
	done := thing()
	done.Status.StoredVersions = []string{"v2"}
	some, other := []item{{name: "a"}}, []item{{name: "b"}}
	counted := map[string]int{metrics.MigrationRewritten: 4}
	messages := golden.NewMessages(t)
	for name, tc := range map[string]struct {
		pass passResult
		want []string
	}{
		"nothing":         {passResult{plan: plan{step: wait}}, nil},
		"asked":           {passResult{plan: plan{step: createRequest}}, []string{"StorageMigrationStarted"}},
		"not asked":       {passResult{plan: plan{step: createRequest}, err: errors.New("no")}, nil},
		"taken over":      {passResult{plan: plan{step: listPage}, after: progress{fallback: "because"}}, []string{"StorageMigrationStarted"}},
		"a busy second":   {passResult{plan: plan{step: rewriteBatch}, after: progress{left: some, reported: noon.Add(-time.Second)}}, nil},
		"a busy minute":   {passResult{plan: plan{step: rewriteBatch}, after: progress{left: some, reported: noon.Add(-time.Minute)}}, []string{"StorageMigrationProgress"}},
		"refused, so far": {passResult{plan: plan{step: rewriteBatch}, after: progress{left: some, refused: other, reported: noon}}, nil},
		"refused":         {passResult{plan: plan{step: rewriteBatch}, after: progress{refused: other, refusal: "a/b: no", reported: noon}}, []string{"StorageMigrationRefused"}},
		"still refused":   {passResult{plan: plan{step: wait}, after: progress{refused: other}}, nil},
		"over":            {passResult{crd: done, before: progress{active: true}}, []string{"StorageMigrationCompleted"}},
		"over before":     {passResult{crd: done}, nil},
	} {
		if tc.pass.crd == nil {
			tc.pass.crd = thing()
		}
		tc.pass.now, tc.pass.after.results = noon, counted
		var got []string
		for _, event := range makeReport(tc.pass).events {
			got = append(got, event.Reason)
			messages.Add(name+", "+event.Reason, event.Note)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// A refusal of one object does not stop the others; a failing API server does.
func TestIsRefusal(t *testing.T) {
	resource := schema.GroupResource{Group: "example", Resource: "things"}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"forbidden":         {apierrors.NewForbidden(resource, "a", nil), true},
		"invalid":           {apierrors.NewInvalid(schema.GroupKind{}, "a", nil), true},
		"not convertible":   {apierrors.NewInternalError(errors.New("conversion webhook failed")), true},
		"too large":         {apierrors.NewRequestEntityTooLargeError("limit"), true},
		"too many requests": {apierrors.NewTooManyRequests("later", 1), false},
		"unavailable":       {apierrors.NewServiceUnavailable("down"), false},
		"timeout":           {apierrors.NewTimeoutError("slow", 1), false},
		"server timeout":    {apierrors.NewServerTimeout(resource, "patch", 1), false},
		"token expired":     {apierrors.NewUnauthorized("who"), false},
		"no path":           {apierrors.NewGenericServerResponse(404, "patch", resource, "a", "404 page not found", 0, true), false},
		"no answer":         {errors.New("connection refused"), false},
	} {
		if got := isRefusal(tc.err); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}
