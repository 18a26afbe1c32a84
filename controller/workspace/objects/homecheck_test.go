package objects_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// W98: the check comes before all that mounts the home, since the kubelet makes the folder for that. It sees the whole volume, and
// cannot change it.
func TestTheHomeIsLookedForFirst(t *testing.T) {
	ws := ann()
	ws.Spec.Template = &v1alpha1.PodTemplate{Spec: runtime.RawExtension{Raw: []byte(
		`{"initContainers":[{"name":"clone","image":"git:1","volumeMounts":[{"name":"home","mountPath":"/home/coder"}]}]}`)}}
	pod, err := objects.Pod(ws, action(lifecycle.ActCreatePod))
	if err != nil {
		t.Fatal(err)
	}
	objects.AddWatcher(pod, ws, "kyklos:1", objects.DefaultWatcherResources())
	objects.AddHomeCheck(pod, "kyklos:1", objects.DefaultWatcherResources())
	var names []string
	for _, c := range pod.Spec.InitContainers {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "kyklos-home clone kyklos-activity" {
		t.Errorf("they start in the order %s", got)
	}
	check := pod.Spec.InitContainers[0]
	mount := corev1.VolumeMount{Name: "home", MountPath: "/volume", ReadOnly: true}
	if len(check.VolumeMounts) != 1 || !cmp.Equal(check.VolumeMounts[0], mount) || check.Image != "kyklos:1" || check.RestartPolicy != nil {
		t.Errorf("the check is %+v", check)
	}
	if args := strings.Join(check.Args, " "); args != "mover check --volume /volume --termination-log /dev/termination-log" {
		t.Errorf("it runs with %s", args)
	}
	if len(check.Resources.Requests) == 0 || len(check.Resources.Limits) == 0 {
		t.Error("a quota would reject it")
	}
}
