package workspace

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/controller/workspace/objects"
)

// W105: who is refused is told that it is because of the container that Kyklos adds, and which flags help; and not otherwise.
func TestARefusedWatcherIsNamed(t *testing.T) {
	t.Parallel()
	for name, watcherOnly := range map[string]bool{"the watcher": true, "the Pod itself": false} {
		w := newWorld(t, aWorkspace(served))
		w.faults.refuse = func(verb string, object client.Object) error {
			pod, ok := object.(*corev1.Pod)
			if !ok || verb != "create" || watcherOnly && len(pod.Spec.InitContainers) == 0 {
				return nil
			}
			return apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "ws-home", errors.New("minimum cpu usage per Container is 10m, but request is 5m"))
		}
		for range 30 {
			_ = w.pass()
			w.nodes()
			if w.workspace().Status.Error != nil {
				break
			}
		}
		failure := w.workspace().Status.Error
		if failure == nil || !strings.Contains(failure.Message, "request is 5m") {
			t.Fatalf("%s: %+v", name, failure)
		}
		for _, part := range []string{"container kyklos-activity", "--activity-requests and --activity-limits"} {
			if strings.Contains(failure.Message, part) != watcherOnly {
				t.Errorf("%s: %s", name, failure.Message)
			}
		}
		w.faults.refuse = nil
		w.converge()
		w.expectState("RUNNING")
		pod := &corev1.Pod{}
		if !w.has("ws-home", pod) || len(pod.Spec.InitContainers) != 1 || pod.Spec.InitContainers[0].Name != objects.WatcherContainer {
			t.Errorf("%s: %+v", name, pod.Spec)
		}
	}
}
