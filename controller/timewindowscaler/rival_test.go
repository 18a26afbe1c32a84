package timewindowscaler

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// owner is an entry of the managed fields, written so many seconds after some start.
func owner(manager, subresource, fields string, seconds int64) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields),
		Time: ptr.To(metav1.NewTime(time.Unix(1700000000+seconds, 0)))}
}

func TestWhoTheRivalIs(t *testing.T) {
	const replicas, size, labels = `{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{"f:size":{}}}`, `{"f:metadata":{"f:labels":{}}}`
	const key = `{"f:spec":{"f:template":{"f:spec":{"f:nodeSelector":{"f:kyklos.io/suspended":{}}}}}}`
	plain, daemon := observation{target: deployment(1, 1)}, observation{target: &target{daemons: &daemons{}}}
	further := observation{target: deployment(1, 1), workload: scalables{}}
	unset := observation{target: &target{unset: true}, workload: scalables{}}
	autoscaled := observation{target: deployment(1, 1), autoscaler: "web-cpu"}
	ours := owner(FieldManager, "scale", replicas, 9)
	for name, tc := range map[string]struct {
		obs     observation
		entries []metav1.ManagedFieldsEntry
		want    string
	}{
		"who owns the replicas":             {plain, []metav1.ManagedFieldsEntry{owner("helm", "", size, 5), owner("kubectl", "scale", replicas, 3), ours}, "Field manager kubectl"},
		"of several the last":               {plain, []metav1.ManagedFieldsEntry{owner("b", "", replicas, 2), owner("a", "", replicas, 3), owner("c", "", replicas, 1)}, "Field manager a"},
		"nobody but us":                     {plain, []metav1.ManagedFieldsEntry{ours, owner("helm", "", size, 10)}, anotherWriter},
		"no managed fields":                 {plain, nil, anotherWriter},
		"fields that cannot be read":        {plain, []metav1.ManagedFieldsEntry{owner("a", "", `{`, 1), owner("b", "", `{"f:spec":1}`, 1), {Manager: "c"}}, anotherWriter},
		"no name":                           {plain, []metav1.ManagedFieldsEntry{owner("", "", replicas, 1)}, anotherWriter},
		"the autoscaler":                    {autoscaled, []metav1.ManagedFieldsEntry{owner("kube-controller-manager", "scale", replicas, 1)}, "HorizontalPodAutoscaler web-cpu"},
		"another, beside an autoscaler":     {autoscaled, []metav1.ManagedFieldsEntry{owner("kubectl", "scale", replicas, 1)}, "Field manager kubectl"},
		"a controller, without autoscaler":  {plain, []metav1.ManagedFieldsEntry{owner("kube-controller-manager", "scale", replicas, 1)}, "Field manager kube-controller-manager"},
		"a DaemonSet's key":                 {daemon, []metav1.ManagedFieldsEntry{owner("helm", "", replicas, 5), owner("kubectl-edit", "", key, 1)}, "Field manager kubectl-edit"},
		"a DaemonSet's key that is gone":    {daemon, []metav1.ManagedFieldsEntry{owner("helm", "", size, 5)}, anotherWriter},
		"a count elsewhere":                 {further, []metav1.ManagedFieldsEntry{owner("flux", "", size, 5), owner("ci", "", labels, 7), ours}, "Field manager flux"},
		"a count elsewhere, status written": {further, []metav1.ManagedFieldsEntry{owner("flux", "", size, 5), owner("op", "status", `{"f:status":{"f:size":{}}}`, 7)}, "Field manager flux"},
		"a count in its usual place":        {further, []metav1.ManagedFieldsEntry{owner("flux", "", size, 5), owner("ci", "scale", replicas, 1)}, "Field manager ci"},
		"a count that was taken away":       {unset, []metav1.ManagedFieldsEntry{owner("flux", "", size, 5)}, anotherWriter},
	} {
		if got := rivalAmong(tc.entries, tc.obs); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

// A DaemonSet has no replicas to speak of.
func TestAFightOverADaemonSet(t *testing.T) {
	s := newStory(t, 10)
	s.obs.target = &target{daemons: &daemons{}}
	s.obs.fight.rival = "Field manager kubectl-edit"
	s.tws.Spec.TargetRef.Kind, s.tws.Spec.TargetRef.Name = "DaemonSet", "agent"
	const want = "Field manager kubectl-edit undoes what Kyklos sets in DaemonSet agent: three times in window OffHours; " +
		"only one of the two can decide: have the other leave the target alone, or set spec.pause"
	if got := fought(s.tws, s.obs, "OffHours"); got != want {
		t.Errorf("got %s", got)
	}
	const waiting = "Target is not running (window: BusinessHours): somebody else sets it again and again, and Kyklos corrects it ever less often, in the end every 5 minutes; see Degraded"
	pass := situation{tws: s.tws, obs: s.obs, plan: plan{effective: 1, window: "BusinessHours"}}
	if got := pass.waitingMessage(); got != waiting {
		t.Errorf("got %s", got)
	}
}
