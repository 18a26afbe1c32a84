package upgrade

import (
	"testing"

	"kyklos.io/kyklos/test/harness"
)

// The fleet is upgraded from the previous release to this one over a boundary and the end of a grace period, with the CRD
// first and the managers one after the other, as by `kubectl apply -k config/default`. Then it is downgraded over the next
// boundary, and upgraded again. A file is applied server-side all along, in each release's version.
func TestUpgradeAndBack(t *testing.T) {
	old, new := previous(t), present(t)
	j := newScenario(t, old)
	v1 := j.run(old)
	j.awaitStatuses()
	j.clock("2025-01-27 08:50:00")
	j.awaitGrace()
	began := func(s state) int32 { return s.replicas }
	j.expectWrites(began, began)
	gitOps := j.applyAs("v1alpha1")
	before := j.scalers("v1alpha1")

	port := j.install(new)
	j.clock("2025-01-27 09:20:00")
	v2 := j.runAt(new, port)
	j.Must(v1.Stop())
	j.awaitReplicas("the flip of 09:00", state.atMorning)
	j.awaitStored("v1beta1")
	j.expectWrites(began, state.atMorning)
	j.expectUntouched(before)
	featured := j.createFeatured()
	gitOps.moveTo("v1beta1")

	j.shrink()
	before = j.scalers("v1alpha1")
	j.stepBack(0)
	j.awaitStored("v1alpha1")
	j.stepBack(1)
	j.awaitMoved("v1beta1")
	j.Must(v2.Stop())
	j.stepBack(2)
	j.clock("2025-01-27 17:30:00")
	v3 := j.run(old)
	j.awaitReplicas("the flip of 17:00", state.atEvening)
	j.expectWrites(state.atMorning, state.atEvening)
	j.expectMoved(before)
	gitOps.moveTo("v1alpha1")

	port = j.install(new)
	v4 := j.runAt(new, port)
	j.Must(v3.Stop())
	j.awaitStored("v1beta1")
	j.expectWrites(state.atEvening, state.atEvening)
	if got := harness.Show(j.scalers("v1beta1")["featured"].Object["spec"]); got != featured {
		t.Errorf("after a downgrade and an upgrade the spec is\n%s, was\n%s", got, featured)
	}
	gitOps.moveTo("v1beta1")
	j.Must(v4.Stop())
}

func (s state) atMorning() int32 { return s.morning }
func (s state) atEvening() int32 { return s.evening }
