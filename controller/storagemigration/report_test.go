package storagemigration

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kyklos.io/kyklos/internal/metrics"
)

// Each pass tells what is new in it, and of the progress once a minute.
func TestEvents(t *testing.T) {
	done := thing()
	done.Status.StoredVersions = []string{"v2"}
	some, other := []item{{name: "a"}}, []item{{name: "b"}}
	counted := map[string]int{metrics.MigrationRewritten: 4}
	for name, tc := range map[string]struct {
		s    situation
		want []string
	}{
		"nothing":         {situation{plan: plan{step: await}}, nil},
		"asked":           {situation{plan: plan{step: ask}}, []string{"StorageMigrationStarted"}},
		"not asked":       {situation{plan: plan{step: ask}, err: errors.New("no")}, nil},
		"taken over":      {situation{plan: plan{step: list}, progress: &progress{own: "because"}}, []string{"StorageMigrationStarted"}},
		"a busy second":   {situation{plan: plan{step: rewrite}, progress: &progress{left: some, told: noon.Add(-time.Second)}}, nil},
		"a busy minute":   {situation{plan: plan{step: rewrite}, progress: &progress{left: some, told: noon.Add(-time.Minute)}}, []string{"StorageMigrationProgress"}},
		"refused, so far": {situation{plan: plan{step: rewrite}, progress: &progress{left: some, refused: other, told: noon}}, nil},
		"refused":         {situation{plan: plan{step: rewrite}, progress: &progress{refused: other, told: noon}}, []string{"StorageMigrationRefused"}},
		"still refused":   {situation{plan: plan{step: await}, progress: &progress{refused: other}}, nil},
		"over":            {situation{crd: done, before: progress{active: true}}, []string{"StorageMigrationCompleted"}},
		"over before":     {situation{crd: done}, nil},
	} {
		if tc.s.crd == nil {
			tc.s.crd = thing()
		}
		if tc.s.progress == nil {
			tc.s.progress = &progress{}
		}
		tc.s.now, tc.s.progress.results = noon, counted
		var got []string
		for _, event := range tc.s.events() {
			got = append(got, event.Reason)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// What the API server says about one object does not stop the others; what it cannot say now does.
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
