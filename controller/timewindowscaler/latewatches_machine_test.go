package timewindowscaler

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1beta1"
)

// B14: in any order of edits, boundaries, conflicts, lost answers, crashes, takeovers, deletions and restores, and however late each watch is:
// no write follows an older spec than the one before, no cause makes two writes, and in the end the target has the count that
// the schedule asks for.
func TestLateWatches(t *testing.T) {
	for range 10 { // rare orders need more than one search
		rapid.Check(t, func(rt *rapid.T) {
			w := newLateWatches(rt)
			rt.Repeat(w.actions())
			w.settle()
		})
	}
}

// actions are followed by a pass if one is due and the queue is not slow.
func (w *lateWatches) actions() map[string]func(*rapid.T) {
	actions := map[string]func(*rapid.T){
		"a wake-up":             func(*rapid.T) { w.woken = true },
		"another wake-up":       func(*rapid.T) { w.woken = true },
		"a scaler's event":      func(*rapid.T) { w.deliver(scalerAt(lateScaler)) },
		"a target's event":      func(*rapid.T) { w.deliver(w.target()) },
		"the targets' events":   func(*rapid.T) { w.deliverTargets() },
		"time passes":           func(t *rapid.T) { w.wait(time.Duration(rapid.IntRange(1, 600).Draw(t, "seconds")) * time.Second) },
		"a boundary":            func(*rapid.T) { w.wait(w.boundary().Sub(w.clock.Now())) },
		"the spec is edited":    func(*rapid.T) { w.edit() },
		"another target":        func(t *rapid.T) { w.retarget(rapid.SampledFrom(lateTargets).Draw(t, "target")) },
		"the pods follow":       func(*rapid.T) { w.rollout() },
		"a user scales":         func(*rapid.T) { w.userScales() },
		"a label":               func(*rapid.T) { w.touch() },
		"a request is lost":     func(*rapid.T) { w.api.answer = requestLost },
		"an answer is lost":     func(*rapid.T) { w.api.answer = answerLost },
		"an edit in the pass":   func(*rapid.T) { w.api.meanwhile, w.woken = w.edit, true },
		"a touch in the pass":   func(*rapid.T) { w.api.meanwhile, w.woken = w.touch, true },
		"a crash":               func(*rapid.T) { w.restart() },
		"a standby takes over":  func(*rapid.T) { w.takeOver() },
		"the scaler deleted":    func(*rapid.T) { w.deleteScaler() },
		"the scaler recreated":  func(*rapid.T) { w.deleteScaler(); w.createScaler() },
		"the target recreated":  func(*rapid.T) { w.recreateTarget() },
		"a backup or a restore": func(*rapid.T) { w.backUpOrRestore() },
		"all settles":           func(*rapid.T) { w.settle() },
	}
	for name, action := range actions {
		actions[name] = func(t *rapid.T) {
			action(t)
			if rapid.IntRange(0, 3).Draw(t, "slow queue") == 0 {
				return
			}
			w.pass()
		}
	}
	return actions
}

// target is where the target of the stored spec is.
func (w *lateWatches) target() string {
	if tws := w.api.objects[scalerAt(lateScaler)].now(); tws != nil {
		return targetAt(tws.(*v1beta1.TimeWindowScaler).Spec.TargetRef.Name)
	}
	return targetAt(lateTargets[0])
}

func (w *lateWatches) deliverTargets() {
	for _, name := range lateTargets {
		for w.deliver(targetAt(name)) {
		}
	}
}

func (w *lateWatches) deleteScaler() {
	if w.api.objects[scalerAt(lateScaler)].now() != nil {
		w.api.remove(scalerAt(lateScaler))
	}
}

func (w *lateWatches) wait(d time.Duration) { w.clock.SetTime(w.clock.Now().Add(d)) }

// boundary is the next start or end of the window.
func (w *lateWatches) boundary() time.Time {
	now := w.clock.Now()
	next := now.Truncate(time.Hour)
	for {
		next = next.Add(time.Hour)
		if next.Hour() == 9 || next.Hour() == 17 {
			return next
		}
	}
}

func (w *lateWatches) edit() {
	w.changeScaler(func(tws *v1beta1.TimeWindowScaler) { w.setSpec(&tws.Spec, tws.Spec.TargetRef.Name) })
}

func (w *lateWatches) retarget(name string) {
	w.changeScaler(func(tws *v1beta1.TimeWindowScaler) { w.setSpec(&tws.Spec, name) })
}

func (w *lateWatches) changeScaler(edit func(*v1beta1.TimeWindowScaler)) {
	if w.api.objects[scalerAt(lateScaler)].now() == nil {
		return
	}
	change(w.api, scalerAt(lateScaler), func(tws *v1beta1.TimeWindowScaler) {
		edit(tws)
		tws.Generation++
	})
}

// touch changes the objects in a way that does not matter here, so that a write conflicts.
func (w *lateWatches) touch() {
	if w.api.objects[scalerAt(lateScaler)].now() != nil {
		change(w.api, scalerAt(lateScaler), func(*v1beta1.TimeWindowScaler) {})
	}
	change(w.api, w.target(), func(*appsv1.Deployment) {})
}

func (w *lateWatches) rollout() {
	change(w.api, w.target(), func(d *appsv1.Deployment) { d.Status.Replicas = *d.Spec.Replicas })
}

func (w *lateWatches) userScales() {
	w.disturbed++
	change(w.api, w.target(), func(d *appsv1.Deployment) {
		d.Spec.Replicas = ptr.To[int32](1)
		d.Generation++
	})
}

func (w *lateWatches) recreateTarget() {
	at := w.target()
	w.api.remove(at)
	w.createTarget(strings.TrimPrefix(at, targetAt("")))
}

// backUpOrRestore brings back the state of the last backup, with its resourceVersions, or makes the first one.
func (w *lateWatches) backUpOrRestore() {
	if w.backup == nil {
		w.backup, w.backedUp = map[string]client.Object{}, w.api.version
		for at, h := range w.api.objects {
			w.backup[at] = h.now()
		}
		return
	}
	w.deliverAll() // the outage before it is longer than any watch is late
	w.api.version, w.restored = w.backedUp, true
	w.acted, w.causes = 0, map[string]bool{}
	w.api.start()
	for at, object := range w.backup {
		w.api.append(at, object)
	}
	w.backup = nil
}

// B14: the cache of a replica that takes over lacks a scaler, and gets it before the one of the same name that replaced it.
func TestAReplacedScalerAtATakeover(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newLateWatches(rt)
		w.deleteScaler()
		scaler := w.api.objects[scalerAt(lateScaler)]
		gone := len(scaler.states) - 1
		w.createScaler()
		w.deleteScaler()
		w.createScaler()
		w.settle()
		scaler.seen = gone
		w.takeOver()
		w.pass()
		w.deliver(scalerAt(lateScaler))
		w.pass()
		w.settle()
	})
}
