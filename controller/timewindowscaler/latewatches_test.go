package timewindowscaler

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	toolsevents "k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/events"
)

// lateWatches runs passes of a real Reconciler against an apiModel. Every edit of the spec uses counts of its own, so that a
// write shows which spec it follows.
type lateWatches struct {
	*rapid.T
	api   *apiModel
	clock *clocktesting.FakePassiveClock
	r     *Reconciler
	// woken: a watch has woken the scaler; due is when the last pass wanted the next one.
	woken bool
	due   time.Time

	// edits counts the specs, acted is the newest one that a write followed.
	edits, acted int
	// disturbed counts what else can make a write due; causes are those of the writes so far.
	disturbed int
	causes    map[string]bool
	// restored: resourceVersions have moved back, and the watches have not caught up since.
	restored bool
	backup   map[string]client.Object
	backedUp int64
}

const lateScaler = "web"

var lateTargets = []string{"a", "b"}

func newLateWatches(t *rapid.T) *lateWatches {
	w := &lateWatches{T: t, clock: clocktesting.NewFakePassiveClock(time.Date(2025, 1, 27, 8, 59, 0, 0, time.UTC)), causes: map[string]bool{}}
	w.api = &apiModel{objects: map[string]*history{}, scaled: w.scaled, refused: w.refused}
	w.api.start()
	for _, name := range lateTargets {
		w.createTarget(name)
	}
	w.createScaler()
	w.restart()
	return w
}

// restart starts a new process: it remembers nothing, and its caches are filled.
func (w *lateWatches) restart() {
	for _, h := range w.api.objects {
		h.seen = len(h.states) - 1
	}
	w.takeOver()
}

// takeOver lets another process lead, whose watches are late: it remembers nothing.
func (w *lateWatches) takeOver() {
	w.r = &Reconciler{
		Clients: target.Clients{Client: modelClient{apiModel: w.api}, APIReader: modelReader{apiModel: w.api}},
		Clock:   w.clock, Requeue: Requeue{Max: 24 * time.Hour}, Events: events.NewRecorder(&toolsevents.FakeRecorder{}),
		attempts: attempts.New(2, func() time.Duration { return w.clock.Now().Sub(time.Unix(0, 0)) }), metrics: &extmetric.Poller{}, enforce: true,
	}
	w.r.attempts.Probe = func(context.Context) error { return nil }
	w.r.attempts.Wake = func(...types.NamespacedName) { w.woken = true }
	w.r.attempts.WakeLast = w.r.attempts.Wake
	w.api.start()
	w.woken = true
}

// counts are those of one edit: outside of the window and in it.
func counts(edit int) (closed, open int32) { return int32(10 * edit), int32(10*edit + 5) }

func (w *lateWatches) setSpec(spec *v1beta1.TimeWindowScalerSpec, name string) {
	w.edits++
	closed, open := counts(w.edits)
	*spec = v1beta1.TimeWindowScalerSpec{
		TargetRef: v1beta1.TargetRef{APIVersion: "apps/v1", Kind: "Deployment", Name: name}, Timezone: "UTC", DefaultReplicas: intstr.FromInt32(closed),
		Windows: []v1beta1.Window{{Days: []v1beta1.Weekday{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}, Start: "09:00", End: "17:00", Replicas: intstr.FromInt32(open)}},
	}
}

// due is the count that the stored spec asks for now.
func (w *lateWatches) wanted(spec *v1beta1.TimeWindowScalerSpec) int32 {
	if hour := w.clock.Now().Hour(); 9 <= hour && hour < 17 {
		return spec.Windows[0].Replicas.IntVal
	}
	return spec.DefaultReplicas.IntVal
}

func (w *lateWatches) createScaler() {
	tws := &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Name: lateScaler}}
	w.setSpec(&tws.Spec, lateTargets[0])
	w.api.create(scalerAt(lateScaler), tws)
}

func (w *lateWatches) createTarget(name string) {
	w.api.create(targetAt(name), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](1)}})
}

// refused: a manager knows its own writes, so they do not make others fail.
func (w *lateWatches) refused(name string) {
	if !w.restored {
		w.Fatalf("a write to %s was refused because of the manager's own last write", name)
	}
}

// scaled checks a write before it is stored: it follows no older spec than one before, and none that the manager knows is deleted, and
// its cause has not made another.
func (w *lateWatches) scaled(name string, count int32) {
	edit := int(count / 10)
	period := (w.clock.Now().Unix()/3600 - 9) / 8 // changes with each boundary
	uid := w.api.objects[targetAt(name)].now().GetUID()
	cause := fmt.Sprintf("spec %d, period %d, target %s, disturbance %d", edit, period, uid, w.disturbed)
	w.Logf("%s: %s scaled to %d (%s)", w.clock.Now().Format(time.TimeOnly), name, count, cause)
	if w.restored {
		return
	}
	if w.api.absent[scalerAt(lateScaler)] {
		w.Fatalf("%s was scaled to %d although the scaler is known to be deleted", name, count)
	}
	if edit < w.acted {
		w.Fatalf("%s was scaled to %d as spec %d asks, after a write that followed spec %d", name, count, edit, w.acted)
	}
	if w.causes[cause] {
		w.Fatalf("%s was scaled to %d a second time: %s", name, count, cause)
	}
	w.acted, w.causes[cause] = edit, true
}

// pass runs a pass if one is due, as the queue would.
func (w *lateWatches) pass() {
	w.r.attempts.Tick(w.Context())
	if !w.woken && w.clock.Now().Before(w.due) {
		return
	}
	w.woken = false
	result, err := w.r.Reconcile(log.IntoContext(w.Context(), logr.Discard()), reconcile.Request{NamespacedName: types.NamespacedName{Name: lateScaler}})
	if err != nil {
		w.Fatal(err)
	}
	w.due = w.clock.Now().Add(24 * time.Hour)
	if result.RequeueAfter > 0 {
		w.due = w.clock.Now().Add(result.RequeueAfter)
	}
}

// deliver brings one cache forward by one change, and wakes the scaler as the real watches do.
func (w *lateWatches) deliver(at string) bool {
	h := w.api.objects[at]
	if h.seen == len(h.states)-1 {
		return false
	}
	before := h.states[h.seen]
	h.seen++
	after := h.states[h.seen]
	if tws, ok := after.(*v1beta1.TimeWindowScaler); ok && before != nil {
		w.r.memory.caughtUp(tws)
	}
	switch {
	case before == nil || after == nil || before.GetUID() != after.GetUID():
		w.woken = true
		if after != nil { // that this one is gone too is not known
			w.api.absent[at] = false
		}
	case at == scalerAt(lateScaler):
		w.woken = w.woken || scalerChanged.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	default:
		kind := target.KindOf(v1beta1.TargetRef{APIVersion: "apps/v1", Kind: "Deployment"}).(target.Cached)
		w.woken = w.woken || targetChanged(kind).Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after})
	}
	return true
}

func (w *lateWatches) deliverAll() {
	for at := range w.api.objects {
		for w.deliver(at) {
		}
	}
}

// settle delivers everything and runs what is due in the next minutes.
func (w *lateWatches) settle() {
	w.api.answer, w.api.meanwhile = arrives, nil
	w.deliverAll()
	for passes := 0; w.woken || w.due.Sub(w.clock.Now()) <= 6*time.Minute; passes++ {
		if passes == 100 {
			w.Fatal("passes never end")
		}
		if !w.woken {
			w.clock.SetTime(w.due)
		}
		w.pass()
		w.deliverAll()
	}
	w.restored = false
	w.check()
}

// check compares with what the schedule asks for.
func (w *lateWatches) check() {
	stored := w.api.objects[scalerAt(lateScaler)].now()
	if stored == nil {
		return
	}
	if w.r.memory.of(types.NamespacedName{Name: lateScaler}).scaler.Ahead() {
		w.Fatal("a copy of the scaler is kept although the cache has caught up")
	}
	tws := stored.(*v1beta1.TimeWindowScaler)
	want := w.wanted(&tws.Spec)
	if got := ptr.Deref(tws.Status.EffectiveReplicas, -1); got != want {
		w.Fatalf("the status settles at %d replicas, want %d", got, want)
	}
	if found := w.api.objects[targetAt(tws.Spec.TargetRef.Name)].now(); found != nil {
		if got := *found.(*appsv1.Deployment).Spec.Replicas; got != want {
			w.Fatalf("%s settles at %d replicas, want %d", tws.Spec.TargetRef.Name, got, want)
		}
	}
}
