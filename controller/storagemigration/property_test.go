package storagemigration

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	clientevents "k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/internal/events"
)

const years = 10 * 365 * 24 * time.Hour

// start starts a manager without any state.
func (w *world) start() *Reconciler {
	w.seen = w.crd
	return &Reconciler{
		Watched:     func(string) *definition { return w.seen },
		Definitions: definitions{world: w}, Migrations: migrations{world: w}, Objects: stored{world: w},
		Clock:  clocktesting.NewFakePassiveClock(w.now),
		Events: events.NewRecorder(&clientevents.FakeRecorder{}),
		QPS:    1, Limiter: flowcontrol.NewFakeAlwaysRateLimiter(), Delay: 10 * time.Second,
	}
}

// pass runs one pass and sleeps for as long as it asks.
func (w *world) pass(t *rapid.T, r *Reconciler) {
	r.Clock.(*clocktesting.FakePassiveClock).SetTime(w.now.Add(w.off))
	ctx := log.IntoContext(t.Context(), logr.Discard())
	result, err := r.Reconcile(ctx, reconcile.Request{NamespacedName: types.NamespacedName{Name: w.crd.Name}})
	if err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(result.RequeueAfter)
}

// In any order of events, and whenever the manager is killed: the definition never says, as Kyklos reads it,
// that the migration is complete while an object is stored in another version; Kyklos does not say that no managed fields
// name an unserved version while some do; and once nothing happens any more, both are done, and nothing is left behind.
func TestNeverDoneTooEarlyAndAlwaysInTheEnd(t *testing.T) {
	log.SetLogger(logr.Discard())
	rapid.Check(t, func(t *rapid.T) {
		w := &world{now: noon, crd: thing(), objects: map[string]*object{}, serves: rapid.Bool().Draw(t, "serves"), revision: 1}
		for i := range rapid.IntRange(0, 12).Draw(t, "objects") {
			version := rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "version")
			w.objects[fmt.Sprintf("o%02d", i)] = &object{version: version, revision: w.bump()}
		}
		w.crd.Spec.Versions[0].Subresources = w.crd.Spec.Versions[1].Subresources
		r := w.start()
		some := func(t *rapid.T) *object {
			if len(w.objects) == 0 {
				return &object{}
			}
			return w.objects[rapid.SampledFrom(slices.Sorted(maps.Keys(w.objects))).Draw(t, "which")]
		}
		t.Repeat(map[string]func(*rapid.T){
			"": func(t *rapid.T) {
				w.check(t)
				p := r.progress[w.crd.Name]
				if p != nil && len(p.left)+len(p.refused) > distinct(p.left, p.refused) {
					t.Fatalf("an object is to be rewritten twice: %v %v", p.left, p.refused)
				}
				if p != nil && p.cleaned && p.goal == goalOf(w.crd) && w.stale() {
					t.Fatal("managed fields name a version that is not served, and Kyklos no longer looks")
				}
			},
			"pass":    func(t *rapid.T) { w.pass(t, r) },
			"passes":  func(t *rapid.T) { w.pass(t, r); w.pass(t, r); w.pass(t, r) },
			"watch":   func(*rapid.T) { w.seen = w.crd },
			"kill":    func(*rapid.T) { r = w.start() },
			"flip":    func(*rapid.T) { w.flip() },
			"migrate": func(*rapid.T) { w.migrate() },
			"ignored": func(t *rapid.T) { w.ignored = rapid.Bool().Draw(t, "ignored") },
			"down":    func(t *rapid.T) { w.down = rapid.Bool().Draw(t, "down") },
			"expire":  func(t *rapid.T) { w.epoch++; w.renews = rapid.Bool().Draw(t, "renews") },
			"refuse":  func(t *rapid.T) { o := some(t); o.refused = !o.refused },
			"write":   func(t *rapid.T) { w.write(some(t)) },
			"create":  func(*rapid.T) { o := &object{}; w.write(o); w.objects["n"+o.revision] = o },
			"wait":    func(*rapid.T) { w.now = w.now.Add(7 * time.Minute) },
			"serve":   func(t *rapid.T) { w.serve(rapid.IntRange(0, 1).Draw(t, "version")) },
			"apply":   func(t *rapid.T) { w.apply(some(t), rapid.SampledFrom([]string{"v1", "v2"}).Draw(t, "in")) },
			"clock": func(t *rapid.T) {
				w.off = rapid.SampledFrom([]time.Duration{0, time.Second, -time.Hour, time.Hour, -years, years}).Draw(t, "off by")
			},
			"delete": func(t *rapid.T) {
				gone := some(t)
				maps.DeleteFunc(w.objects, func(_ string, o *object) bool { return o == gone })
			},
		})
		w.down, w.off = false, 0
		for i, v := range w.crd.Spec.Versions {
			if v.Storage && !v.Served {
				w.serve(i)
			}
		}
		for _, o := range w.objects {
			o.refused = false
		}
		for range 500 { // more than runLimit at pollInterval
			w.seen = w.crd
			w.pass(t, r)
			w.migrate()
		}
		w.check(t)
		if w.stale() {
			t.Fatalf("managed fields still name a version that is not served: %+v", r.progress[w.crd.Name])
		}
		if needed(w.crd) || !w.ignored && w.svm != nil {
			t.Fatalf("not done: stored %v, conditions %+v, request %+v", w.crd.Status.StoredVersions, w.crd.Status.Conditions, w.svm)
		}
	})
}

func distinct(lists ...[]item) int {
	names := map[string]bool{}
	for _, it := range slices.Concat(lists...) {
		names[it.name] = true
	}
	return len(names)
}

func (w *world) check(t *rapid.T) {
	if !needed(w.crd) && !w.clean() {
		t.Fatalf("storedVersions %v, but not all objects are stored so", w.crd.Status.StoredVersions)
	}
}
