package timewindowscaler

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	gocmp "github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/timewindowscaler/attempts"
	"kyklos.io/kyklos/controller/timewindowscaler/extmetric"
	"kyklos.io/kyklos/controller/timewindowscaler/target"
	"kyklos.io/kyklos/internal/events"
)

// turns runs passes of a Reconciler over one scaler, which stands at 2 replicas before its boundary to 10, against an apiModel
// whose watches are never late.
type turns struct {
	*testing.T
	api   *apiModel
	clock *clocktesting.FakePassiveClock
	r     *Reconciler
	// published are the reasons of the events, called how often the scaler was called to report.
	published []string
	called    int
}

func newTurns(t *testing.T) *turns {
	v := &turns{T: t, clock: clocktesting.NewFakePassiveClock(ist("2025-01-27 08:00:00"))}
	v.api = &apiModel{objects: map[string]*history{}, scaled: func(string, int32) {}, refused: func(string) {}}
	v.api.start()
	v.api.create(targetAt("webapp"), &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "webapp"}, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](2)}, Status: appsv1.DeploymentStatus{Replicas: 2}})
	v.api.create(scalerAt(lateScaler), &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Name: lateScaler}, Spec: officeHours().Spec})
	v.start()
	v.pass()
	v.pass()
	v.clock.SetTime(ist("2025-01-27 09:00:00"))
	v.published = nil
	return v
}

// start starts a process, which remembers nothing.
func (v *turns) start() {
	v.r = &Reconciler{
		Clients: target.Clients{Client: modelClient{apiModel: v.api}, APIReader: modelReader{apiModel: v.api}},
		Clock:   v.clock, Requeue: Requeue{Max: 24 * time.Hour}, Events: events.NewRecorder(v),
		attempts: attempts.New(8, func() time.Duration { return v.clock.Now().Sub(time.Unix(0, 0)) }), metrics: &extmetric.Poller{},
	}
	v.r.attempts.Probe = func(context.Context) error { return nil }
	v.r.attempts.WakeLast = func(keys ...types.NamespacedName) { v.called += len(keys) }
}

// Eventf implements EventRecorder.
func (v *turns) Eventf(about, _ runtime.Object, _, reason, _, _ string, _ ...any) {
	if tws := about.(*v1beta1.TimeWindowScaler); tws.Name != lateScaler || tws.UID == "" {
		v.Errorf("an event about %s with UID %q", tws.Name, tws.UID)
	}
	v.published = append(v.published, reason)
}

// pass runs a pass and returns when the next one is due, and how many writes it has sent.
func (v *turns) pass() (next time.Duration, writes int64) {
	v.Helper()
	for _, h := range v.api.objects {
		h.seen = len(h.states) - 1
	}
	before := v.api.version
	result, err := v.r.Reconcile(log.IntoContext(v.Context(), logr.Discard()), reconcile.Request{NamespacedName: types.NamespacedName{Name: lateScaler}})
	if err != nil {
		v.Fatal(err)
	}
	return result.RequeueAfter, v.api.version - before
}

func (v *turns) status() v1beta1.TimeWindowScalerStatus {
	return v.api.objects[scalerAt(lateScaler)].now().(*v1beta1.TimeWindowScaler).Status
}

func (v *turns) expect(what string, replicas, effective int32, published ...string) {
	v.Helper()
	got := fmt.Sprintf("%d replicas, status %d", *v.api.objects[targetAt("webapp")].now().(*appsv1.Deployment).Spec.Replicas, *v.status().EffectiveReplicas)
	if want := fmt.Sprintf("%d replicas, status %d", replicas, effective); got != want {
		v.Errorf("%s: %s, want %s", what, got, want)
	}
	if diff := gocmp.Diff(published, v.published); diff != "" {
		v.Errorf("%s: events (-want +got)\n%s", what, diff)
	}
}

// B18: the pass that writes the target reports nothing, and asks to be called. The next boundary does not wait for that.
func TestThePassThatWritesTheTargetReportsNothing(t *testing.T) {
	v := newTurns(t)
	v.called = 0
	next, writes := v.pass()
	v.expect("the boundary", 10, 2)
	if next != 8*time.Hour || writes != 1 || v.called != 1 {
		t.Errorf("next after %s, %d writes, called %d times; want 8h, 1, 1", next, writes, v.called)
	}
	v.clock.SetTime(ist("2025-01-27 09:00:40"))
	next, writes = v.pass()
	v.expect("the turn", 10, 10, "ScaledUp")
	if next != 8*time.Hour-40*time.Second || writes != 1 {
		t.Errorf("next after %s, %d writes", next, writes)
	}
	if at := v.status().LastScaleTime; !at.Time.Equal(ist("2025-01-27 09:00:00")) {
		t.Errorf("lastScaleTime is %s, want when the target was written", at)
	}
	if _, writes = v.pass(); writes != 0 {
		t.Errorf("another pass: %d writes", writes)
	}
	v.expect("another pass", 10, 10, "ScaledUp")
}

// T6: a boundary is not late by what the pass before it took.
func TestAWaitCountsFromTheEndOfThePass(t *testing.T) {
	v := newTurns(t)
	v.api.meanwhile = func() { v.clock.SetTime(v.clock.Now().Add(3 * time.Second)) }
	if next, _ := v.pass(); next != 8*time.Hour-3*time.Second {
		t.Errorf("next after %s, want 8h less the 3 s of a slow write", next)
	}
}

// What happens while a report waits.
func TestWhileAReportWaits(t *testing.T) {
	for name, tc := range map[string]struct {
		meanwhile           func(*turns)
		replicas, effective int32
		published           []string
	}{
		"an edit": {func(v *turns) {
			change(v.api, scalerAt(lateScaler), func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.Windows[0].Replicas = intstr.FromInt32(12)
				tws.Generation++
			})
		}, 12, 12, []string{"ScaledUp", "ScaledUp"}},
		"a label":           {func(v *turns) { change(v.api, scalerAt(lateScaler), func(*v1beta1.TimeWindowScaler) {}) }, 10, 10, []string{"ScaledUp"}},
		"the next boundary": {func(v *turns) { v.clock.SetTime(ist("2025-01-27 17:00:00")) }, 2, 2, []string{"ScaledUp", "ScaledDown"}},
		"a grace period begins": {func(v *turns) {
			change(v.api, scalerAt(lateScaler), func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.Windows[0].Replicas, tws.Spec.GracePeriodSeconds = intstr.FromInt32(5), 300
				tws.Generation++
			})
		}, 10, 10, []string{"ScaledUp", "GracePeriodStarted"}},
		"a pause": {func(v *turns) {
			change(v.api, scalerAt(lateScaler), func(tws *v1beta1.TimeWindowScaler) {
				tws.Spec.Pause = true
				tws.Generation++
			})
		}, 10, 10, []string{"ScaledUp"}},
		"a user scales": {func(v *turns) {
			change(v.api, targetAt("webapp"), func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](3) })
		}, 10, 10, []string{"ScaledUp", "ScaledUp"}},
		"an answer is lost": {func(v *turns) { v.api.answer = answerLost }, 10, 10, []string{"ScaledUp"}},
		"a crash":           {func(v *turns) { v.start() }, 10, 10, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := newTurns(t)
			v.pass()
			tc.meanwhile(v)
			for range 4 {
				v.pass()
				v.r.attempts.Tick(t.Context())
				v.clock.SetTime(v.clock.Now().Add(2 * time.Second)) // what failed is tried again
			}
			v.expect(name, tc.replicas, tc.effective, tc.published...)
			if _, writes := v.pass(); writes != 0 {
				t.Errorf("%d writes at rest", writes)
			}
		})
	}
}

// B16: when a grace period ends that an edit began is not forgotten in a crash, although a report may wait: nothing else could tell.
func TestAnUnforeseenGracePeriodIsStoredAtOnce(t *testing.T) {
	for edited, want := range map[bool]time.Time{true: ist("2025-01-27 17:06:00"), false: ist("2025-01-27 17:05:00")} {
		v := newTurns(t)
		v.pass()
		v.pass()
		change(v.api, scalerAt(lateScaler), func(tws *v1beta1.TimeWindowScaler) {
			tws.Spec.GracePeriodSeconds = 300
			tws.Generation++
		})
		v.pass()
		v.pass()
		if edited {
			v.clock.SetTime(ist("2025-01-27 17:01:00"))
			change(v.api, scalerAt(lateScaler), func(tws *v1beta1.TimeWindowScaler) { tws.Generation++ })
		} else {
			v.clock.SetTime(ist("2025-01-27 17:00:01"))
		}
		v.pass()
		if stored := v.status().GracePeriodExpiry != nil; stored != edited {
			t.Errorf("edited: %v, and its end is stored at once: %v", edited, stored)
		}
		v.start()
		v.clock.SetTime(ist("2025-01-27 17:01:30"))
		v.pass()
		v.pass()
		if got := v.status().GracePeriodExpiry; got == nil || !got.Time.Equal(want) {
			t.Errorf("edited: %v, and after a crash it ends at %s, want %s", edited, got, want)
		}
	}
}

// The event of a change is sent although its scaler is deleted before its turn.
func TestAScalerDeletedBeforeItsTurn(t *testing.T) {
	v := newTurns(t)
	v.pass()
	v.api.remove(scalerAt(lateScaler))
	v.pass()
	if diff := gocmp.Diff([]string{"ScaledUp"}, v.published); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	v.api.create(scalerAt(lateScaler), &v1beta1.TimeWindowScaler{ObjectMeta: metav1.ObjectMeta{Name: lateScaler}, Spec: officeHours().Spec})
	v.pass()
	v.pass()
	v.expect("created again", 10, 10, "ScaledUp")
}

// A finalizer holds a scaler that is deleted before its turn: the event is sent, and the status waits no longer.
func TestADeletionThatIsHeldBeforeItsTurn(t *testing.T) {
	v := newTurns(t)
	v.pass()
	change(v.api, scalerAt(lateScaler), func(tws *v1beta1.TimeWindowScaler) {
		tws.DeletionTimestamp, tws.Finalizers = ptr.To(metav1.NewTime(v.clock.Now())), []string{"example.com/hold"}
	})
	_, writes := v.pass()
	if status := v.status(); writes != 1 || status.EffectiveReplicas != nil || !status.LastScaleTime.Time.Equal(ist("2025-01-27 09:00:00")) {
		t.Errorf("%d writes, status %+v", writes, status)
	}
	if _, writes = v.pass(); writes != 0 {
		t.Errorf("another pass: %d writes", writes)
	}
	if diff := gocmp.Diff([]string{"ScaledUp"}, v.published); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
}
