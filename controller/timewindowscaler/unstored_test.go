package timewindowscaler

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
)

// B2: grace depends on what was decided, also while it is not stored. A boundary to 10 and, at once, an edit that asks for 5: the
// decrease waits.
func TestAnUnstoredStatusIsInForce(t *testing.T) {
	stored := officeHours()
	stored.Spec.GracePeriodSeconds = 300
	stored.Status.EffectiveReplicas = ptr.To[int32](2)
	var unstored unstoredStatus
	unstored.keep(stored, &v1beta1.TimeWindowScalerStatus{EffectiveReplicas: ptr.To[int32](10), TargetUID: "d-1", ObservedGeneration: 1})

	stored.Generation, stored.Spec.Windows[0].Replicas = 2, intstr.FromInt32(5)
	p := plan(unstored.inForce(stored), observation{target: deployment(10, 10)}, ist(inTheHours))
	if p.effective != 10 || !p.grace.started || p.Write {
		t.Errorf("effective %d, grace started %v, write %v", p.effective, p.grace.started, p.Write)
	}
	if *stored.Status.EffectiveReplicas != 2 {
		t.Error("the stored status was changed, and with it the patch")
	}
}

// An unstored status counts for the scaler that it was decided for, and until another status is stored.
func TestWhenAnUnstoredStatusIsVoid(t *testing.T) {
	decided := &v1beta1.TimeWindowScalerStatus{EffectiveReplicas: ptr.To[int32](10), ObservedGeneration: 3}
	for name, tc := range map[string]struct {
		change func(*v1beta1.TimeWindowScaler)
		void   bool
	}{
		"nothing changed":          {func(*v1beta1.TimeWindowScaler) {}, false},
		"a label":                  {func(tws *v1beta1.TimeWindowScaler) { tws.ResourceVersion = "9" }, false},
		"an edit":                  {func(tws *v1beta1.TimeWindowScaler) { tws.Generation++ }, false},
		"stored, the answer lost":  {func(tws *v1beta1.TimeWindowScaler) { tws.Status = *decided }, true},
		"another manager's status": {func(tws *v1beta1.TimeWindowScaler) { tws.Status.EffectiveReplicas = ptr.To[int32](7) }, true},
		"recreated":                {func(tws *v1beta1.TimeWindowScaler) { tws.UID = "u-2" }, true},
		"an older spec restored":   {func(tws *v1beta1.TimeWindowScaler) { tws.Generation-- }, true},
	} {
		stored := officeHours()
		stored.Generation, stored.Status.EffectiveReplicas = 3, ptr.To[int32](2)
		var unstored unstoredStatus
		unstored.keep(stored, decided)
		later := stored.DeepCopy()
		tc.change(later)
		want := ptr.Deref(decided.EffectiveReplicas, -1)
		if tc.void {
			want = *later.Status.EffectiveReplicas
		}
		if got := *unstored.inForce(later).Status.EffectiveReplicas; got != want {
			t.Errorf("%s: %d replicas in force, want %d", name, got, want)
		}
		if got := *unstored.inForce(stored).Status.EffectiveReplicas; tc.void && got != 2 {
			t.Errorf("%s: in force again", name)
		}
	}
}
