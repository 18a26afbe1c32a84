package contention

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/controller/timewindowscaler/target"
)

// owner is an entry of the managed fields, written the given number of seconds after a start.
func owner(manager, subresource, fields string, seconds int64) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, FieldsV1: metav1.NewFieldsV1(fields),
		Time: ptr.To(metav1.NewTime(time.Unix(1700000000+seconds, 0)))}
}

func TestRivalName(t *testing.T) {
	const replicas, size, labels = `{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{"f:size":{}}}`, `{"f:metadata":{"f:labels":{}}}`
	const key = `{"f:spec":{"f:template":{"f:spec":{"f:nodeSelector":{"f:kyklos.io/suspended":{}}}}}}`
	count := [][]string{{"f:spec", "f:replicas"}}
	anywhere := append(count, []string{"f:spec"})
	suspended := [][]string{{"f:spec", "f:template", "f:spec", "f:nodeSelector", "f:kyklos.io/suspended"}}
	ours := owner(target.FieldManager, "scale", replicas, 9)
	for name, tc := range map[string]struct {
		paths      [][]string
		entries    []metav1.ManagedFieldsEntry
		want       string
		autoscaler string
	}{
		"who owns the replicas":             {count, []metav1.ManagedFieldsEntry{owner("helm", "", size, 5), owner("kubectl", "scale", replicas, 3), ours}, "Field manager kubectl", ""},
		"of several the last":               {count, []metav1.ManagedFieldsEntry{owner("b", "", replicas, 2), owner("a", "", replicas, 3), owner("c", "", replicas, 1)}, "Field manager a", ""},
		"only Kyklos":                       {count, []metav1.ManagedFieldsEntry{ours, owner("helm", "", size, 10)}, anotherWriter, ""},
		"no managed fields":                 {count, nil, anotherWriter, ""},
		"fields that cannot be read":        {count, []metav1.ManagedFieldsEntry{owner("a", "", `{`, 1), owner("b", "", `{"f:spec":1}`, 1), {Manager: "c"}}, anotherWriter, ""},
		"no name":                           {count, []metav1.ManagedFieldsEntry{owner("", "", replicas, 1)}, anotherWriter, ""},
		"the autoscaler":                    {count, []metav1.ManagedFieldsEntry{owner("kube-controller-manager", "scale", replicas, 1)}, "HorizontalPodAutoscaler web-cpu", "web-cpu"},
		"another, beside an autoscaler":     {count, []metav1.ManagedFieldsEntry{owner("kubectl", "scale", replicas, 1)}, "Field manager kubectl", "web-cpu"},
		"a controller, without autoscaler":  {count, []metav1.ManagedFieldsEntry{owner("kube-controller-manager", "scale", replicas, 1)}, "Field manager kube-controller-manager", ""},
		"a DaemonSet's key":                 {suspended, []metav1.ManagedFieldsEntry{owner("helm", "", replicas, 5), owner("kubectl-edit", "", key, 1)}, "Field manager kubectl-edit", ""},
		"a DaemonSet's key that is gone":    {suspended, []metav1.ManagedFieldsEntry{owner("helm", "", size, 5)}, anotherWriter, ""},
		"a count elsewhere":                 {anywhere, []metav1.ManagedFieldsEntry{owner("flux", "", size, 5), owner("ci", "", labels, 7), ours}, "Field manager flux", ""},
		"a count elsewhere, status written": {anywhere, []metav1.ManagedFieldsEntry{owner("flux", "", size, 5), owner("op", "status", `{"f:status":{"f:size":{}}}`, 7)}, "Field manager flux", ""},
		"a count in its usual place":        {anywhere, []metav1.ManagedFieldsEntry{owner("flux", "", size, 5), owner("ci", "scale", replicas, 1)}, "Field manager ci", ""},
		"a count that was taken away":       {count, []metav1.ManagedFieldsEntry{owner("flux", "", size, 5)}, anotherWriter, ""},
	} {
		if got := rivalAmong(tc.entries, tc.paths, tc.autoscaler); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}
