package statuswriter_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/statuswriter"
)

// wire replaces the client; it records patches and answers with err.
type wire struct {
	client.SubResourceWriter // nil: nothing else may be called
	patches                  []string
	kind                     types.PatchType
	err                      error
}

func (w *wire) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	body, err := patch.Data(obj)
	w.patches, w.kind = append(w.patches, string(body)), patch.Type()
	return errors.Join(err, w.err)
}

var nine = time.Date(2025, 1, 27, 9, 0, 0, 0, time.UTC)

func scaler() *v1beta1.TimeWindowScaler {
	return &v1beta1.TimeWindowScaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", ResourceVersion: "41", Generation: 3},
		Spec:       v1beta1.TimeWindowScalerSpec{Timezone: "Asia/Kolkata"},
		Status: v1beta1.TimeWindowScalerStatus{
			EffectiveReplicas: ptr.To[int32](2),
			NextBoundary:      ptr.To(metav1.NewTime(nine)),
			Conditions:        []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Reconciled"}},
		},
	}
}

// In the steady state no request is sent (B9).
func TestNothingIsWrittenWhenNothingChanged(t *testing.T) {
	same := scaler().Status
	same.NextBoundary = ptr.To(metav1.NewTime(nine.In(time.FixedZone("IST", 19800)))) // the same instant
	empty := &v1beta1.TimeWindowScaler{}
	for name, tc := range map[string]struct {
		tws    *v1beta1.TimeWindowScaler
		status v1beta1.TimeWindowScalerStatus
	}{
		"equal":                    {scaler(), *scaler().Status.DeepCopy()},
		"the same instant":         {scaler(), same},
		"no conditions, none kept": {empty, v1beta1.TimeWindowScalerStatus{Conditions: []metav1.Condition{}}},
	} {
		out := &wire{err: errors.New("a request was sent")}
		if written, err := statuswriter.UpdateStatus(t.Context(), out, tc.tws, tc.status); written || err != nil || len(out.patches) > 0 {
			t.Errorf("%s: written %v, error %v, patches %q", name, written, err, out.patches)
		}
	}
}

// One merge patch holds what changed, null for what went, and the resourceVersion it was read with.
func TestOnePatchUnderOptimisticLock(t *testing.T) {
	tws, out := scaler(), &wire{}
	status := *tws.Status.DeepCopy()
	status.EffectiveReplicas = ptr.To[int32](0)
	status.NextBoundary = nil
	status.ObservedGeneration = 3
	written, err := statuswriter.UpdateStatus(t.Context(), out, tws, status)
	if !written || err != nil {
		t.Fatalf("written %v, error %v", written, err)
	}
	if len(out.patches) != 1 || out.kind != types.MergePatchType {
		t.Fatalf("%d patches of type %s", len(out.patches), out.kind)
	}
	var got any
	if err := json.Unmarshal([]byte(out.patches[0]), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"metadata": map[string]any{"resourceVersion": "41"},
		"status":   map[string]any{"effectiveReplicas": 0.0, "nextBoundary": nil, "observedGeneration": 3.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(status, tws.Status); diff != "" {
		t.Errorf("the object in memory (-want +got)\n%s", diff)
	}
}

func TestAFailedWriteLeavesTheObjectAsItWas(t *testing.T) {
	tws, refused := scaler(), errors.New("no")
	written, err := statuswriter.UpdateStatus(t.Context(), &wire{err: refused}, tws, v1beta1.TimeWindowScalerStatus{})
	if written || !errors.Is(err, refused) {
		t.Errorf("written %v, error %v", written, err)
	}
	if diff := cmp.Diff(scaler(), tws); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
