package conversion

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the annotation does to the hidden fields is reported: removed, changed and added ones.
func TestReview(t *testing.T) {
	const stored = `{"apiVersion":"kyklos.io/v1beta1","metadata":{},"spec":{"baselineReplicas":10,"defaultReplicas":"25%","windows":[{"name":"day","replicas":3,"timezone":"UTC"}]}}`
	const cut = `{"apiVersion":"kyklos.io/v1alpha1","metadata":{"annotations":{"kyklos.io/v1beta1-spec":"{\"cut\":true}"}}}`
	spoke := func(payload, spec string) string {
		return fmt.Sprintf(`{"apiVersion":"kyklos.io/v1alpha1","metadata":{"annotations":{%q:%q}},"spec":%s}`, Annotation, payload, spec)
	}
	const read = `{"spec":{"baselineReplicas":10,"defaultReplicas":"25%","windows":[{"name":"day","replicas":3,"timezone":"UTC"}]}}`
	const shown = `{"defaultReplicas":3,"windows":[{"replicas":3}]}`
	for name, tc := range map[string]struct {
		spoke         string
		lost, changed []string
		unclear       []Window
	}{
		"nothing":                       {spoke: spoke(read, shown)},
		"a visible edit":                {spoke: spoke(read, `{"defaultReplicas":4,"windows":[{"replicas":3}],"pause":true}`)},
		"the window removed":            {spoke: spoke(read, `{"defaultReplicas":3,"windows":[]}`)},
		"the annotation left out":       {spoke: `{"spec":` + shown + `}`, lost: []string{"spec.baselineReplicas", "spec.defaultReplicas", "spec.windows[0].name", "spec.windows[0].timezone"}},
		"and one of them edited":        {spoke: `{"spec":{"defaultReplicas":4,"windows":[]}}`, lost: []string{"spec.baselineReplicas"}},
		"the annotation spoiled":        {spoke: spoke("spoiled", `{"defaultReplicas":4,"windows":[]}`), lost: []string{"spec.baselineReplicas"}},
		"a name changed":                {spoke: spoke(`{"spec":{"baselineReplicas":10,"defaultReplicas":"25%","windows":[{"name":"night","replicas":3,"timezone":"UTC"}]}}`, shown), changed: []string{"spec.windows[0].name"}},
		"a field added, another lost":   {spoke: spoke(`{"spec":{"workspace":{},"defaultReplicas":3,"windows":[{"name":"day","replicas":3,"timezone":"UTC"}]}}`, shown), lost: []string{"spec.baselineReplicas", "spec.defaultReplicas"}, changed: []string{"spec.workspace"}},
		"another window in its place":   {spoke: spoke(read, `{"defaultReplicas":3,"windows":[{"replicas":5,"start":"09:00"}]}`), unclear: []Window{{"spec.windows[0]", "day"}}},
		"a spec that is not the stored": {spoke: spoke(`{"spec":{"baselineReplicas":10,"defaultReplicas":"30%","windows":[{"name":"day","replicas":3,"timezone":"UTC"}]}}`, shown), changed: []string{"spec.defaultReplicas"}},
	} {
		review, err := ReviewWrite([]byte(stored), []byte(tc.spoke))
		if diff := cmp.Diff(tc.lost, review.Lost) + cmp.Diff(tc.changed, review.Changed) + cmp.Diff(tc.unclear, review.Unclear); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
	}
	if review, err := ReviewWrite(nil, []byte(spoke(read, `{"windows":[{"replicas":5}]}`))); err != nil || len(review.Unclear) != 1 {
		t.Errorf("a backup with another window: %v, %+v", err, review)
	}
	if _, err := ReviewWrite(nil, []byte(cut)); !errors.Is(err, ErrCut) {
		t.Errorf("a backup without room: %v", err)
	}
	if _, err := ReviewWrite([]byte(stored), []byte(cut)); !errors.Is(err, ErrCut) {
		t.Errorf("an update of what has no room: %v", err)
	}
}
