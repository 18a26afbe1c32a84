package timewindowscaler

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/internal/targetkind"
)

// daemonSet makes one with the given value of our key, "" for no key, and a status about its spec.
func daemonSet(value string, status appsv1.DaemonSetStatus) *appsv1.DaemonSet {
	d := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{UID: "d-1", ResourceVersion: "1", Generation: 2}, Status: status}
	d.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	if value != "" {
		d.Spec.Template.Spec.NodeSelector[SuspendKey] = value
	}
	return d
}

func scheduled(generation int64, desired, current, misscheduled int32) appsv1.DaemonSetStatus {
	return appsv1.DaemonSetStatus{ObservedGeneration: generation, DesiredNumberScheduled: desired,
		CurrentNumberScheduled: current, NumberMisscheduled: misscheduled}
}

// A6: 0 suspends, anything above lets it run; B4: Ready is about the pods, of the spec as it is now.
func TestWhatADaemonSetAsksForAndHas(t *testing.T) {
	type answers struct{ AsksForNone, AsksForSome, HasNone, HasSome bool }
	for name, tc := range map[string]struct {
		d     *appsv1.DaemonSet
		want  answers
		state string
	}{
		"runs":                      {daemonSet("", scheduled(2, 3, 3, 0)), answers{AsksForSome: true, HasSome: true}, "running"},
		"runs where it should":      {daemonSet("", scheduled(2, 3, 3, 1)), answers{AsksForSome: true, HasSome: true}, "running"},
		"no node matches":           {daemonSet("", scheduled(2, 0, 0, 0)), answers{AsksForSome: true, HasSome: true}, "running"},
		"pods still to come":        {daemonSet("", scheduled(2, 3, 1, 0)), answers{AsksForSome: true}, "starting"},
		"freed, status still old":   {daemonSet("", scheduled(1, 0, 0, 0)), answers{AsksForSome: true}, "starting"},
		"suspended":                 {daemonSet("true", scheduled(2, 0, 0, 0)), answers{AsksForNone: true, HasNone: true}, "suspended"},
		"pods still to go":          {daemonSet("true", scheduled(2, 0, 0, 3)), answers{AsksForNone: true}, "being suspended"},
		"suspended, old status":     {daemonSet("true", scheduled(1, 3, 3, 0)), answers{AsksForNone: true}, "being suspended"},
		"another value is nobody's": {daemonSet("yes", scheduled(2, 0, 0, 0)), answers{}, "suspended"},
	} {
		got := daemonTarget(tc.d)
		if diff := cmp.Diff(tc.want, answers{got.asksFor(0), got.asksFor(5), got.has(0), got.has(5)}); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if got.state() != tc.state {
			t.Errorf("%s: %s, want %s", name, got.state(), tc.state)
		}
		kept, err := stripDaemonSet(tc.d)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, daemonTarget(kept.(*appsv1.DaemonSet)), cmp.AllowUnexported(target{}, daemons{})); diff != "" {
			t.Errorf("%s: the cache loses something (-before +after)\n%s", name, diff)
		}
	}
}

// The patch names our one key and the version seen; null takes a key away in a merge patch (RFC 7396).
func TestSuspendPatch(t *testing.T) {
	for suspend, want := range map[bool]string{
		true:  `{"metadata":{"resourceVersion":"7"},"spec":{"template":{"spec":{"nodeSelector":{"kyklos.io/suspended":"true"}}}}}`,
		false: `{"metadata":{"resourceVersion":"7"},"spec":{"template":{"spec":{"nodeSelector":{"kyklos.io/suspended":null}}}}}`,
	} {
		if got, err := suspendPatch("7", suspend); err != nil || string(got) != want {
			t.Errorf("suspend %v: %s, %v", suspend, got, err)
		}
	}
}

// What is said of a DaemonSet knows no replicas.
func TestADaemonSetsDay(t *testing.T) {
	s := newStory(t, 10)
	s.tws.Spec.TargetRef.Kind, s.tws.Spec.DefaultReplicas = "DaemonSet", intstr.FromInt32(0)
	s.tws.Spec.GracePeriodSeconds = 60
	s.obs.target = daemonTarget(daemonSet("", scheduled(2, 3, 3, 0)))
	s.passes("2025-01-27 14:00:00")
	s.shows("Ready", "True/Reconciled: Target is running as desired (window: BusinessHours)")
	s.obs.target = daemonTarget(daemonSet("", scheduled(2, 3, 1, 0)))
	s.passes("2025-01-27 14:01:00")
	s.shows("Ready", "False/TargetMismatch: Target is not running yet (window: BusinessHours)")
	s.obs.target = daemonTarget(daemonSet("", scheduled(2, 3, 1, 0)))
	s.passes("2025-01-27 17:00:00")
	s.hears("Grace period started: 60s before the DaemonSet is suspended")
	s.obs.target = daemonTarget(daemonSet("", scheduled(2, 3, 1, 0)))
	s.tws.Spec.Pause = true
	s.passes("2025-01-27 17:01:00")
	s.hears("Scaling skipped due to pause: current=starting, desired=suspended")
	s.shows("Ready", "False/TargetMismatch: Target is starting but desired is suspended (pause=true)")
}

// An obstacle is told of in words that say what to do, and nothing is written.
func TestObstacles(t *testing.T) {
	gvk := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Rollout"}
	forbidden := &targetkind.ForbiddenError{Kind: targetkind.Kind{GroupVersionKind: gvk, Resource: "rollouts"}}
	unknown := &targetkind.UnknownError{Kind: gvk}
	unscalable := &targetkind.NotScalableError{Kind: gvk}
	for name, tc := range map[string]struct {
		obstacle        error
		ready, degraded string
		note            string
	}{
		"unknown": {unknown, "False/TargetNotFound: Target Rollout production/webapp not found: " + unknown.Error(), normal,
			"Target Rollout production/webapp not found: " + unknown.Error()},
		"forbidden": {forbidden, "False/TargetForbidden: The target is left alone until Kyklos has the permission; see Degraded",
			"True/TargetForbidden: " + forbidden.Error(), forbidden.Error()},
		"unscalable": {unscalable, "False/InvalidConfiguration: The target is left alone until the spec can be followed; see Degraded",
			`True/InvalidConfiguration: spec.targetRef.kind: Invalid value: "Rollout": ` + unscalable.Error(),
			`spec.targetRef.kind: Invalid value: "Rollout": ` + unscalable.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t, 10)
			s.tws.Spec.TargetRef = v1beta1.TargetRef{APIVersion: "example.com/v1", Kind: "Rollout", Name: "webapp"}
			s.obs.target, s.obs.obstacle = nil, tc.obstacle
			if s.passes(inTheHours).plan.write {
				t.Error("written")
			}
			s.shows("Ready", tc.ready)
			s.shows("Degraded", tc.degraded)
			s.hears(tc.note)
		})
	}
}

// A count that is not set is set, whatever its kind takes for a default.
func TestAnUnsetCountIsSet(t *testing.T) {
	for _, replicas := range []int32{0, 1, 5} {
		if unset := (&target{specReplicas: 1, unset: true}); unset.asksFor(replicas) {
			t.Errorf("asks for %d", replicas)
		}
	}
	set := counted(&metav1.ObjectMeta{}, ptr.To[int32](0), 0, 0)
	if !set.asksFor(0) || set.asksFor(1) {
		t.Error("0 is a count like any other")
	}
}
