package workspace

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/internal/lifecycle"
)

// A Pod that never becomes ready is tried again and again, and the message is the kubelet's (W49, W71). If it becomes ready, also
// between two attempts, the Workspace runs.
func TestAPodThatDoesNotStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace())
	w.keepPods = true
	for range 400 {
		_ = w.pass()
		w.nodes()
		var pod corev1.Pod
		if w.has("ws-home", &pod) && len(pod.Status.ContainerStatuses) == 0 {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image: ide:1"},
			}}}
			w.update(w.server.Status().Update(t.Context(), &pod))
		}
		w.clock.SetTime(w.clock.Now().Add(max(w.wait.Truncate(time.Second), time.Second)))
		if w.workspace().Status.Operation.Attempt > 3 {
			break
		}
	}
	failure := w.workspace().Status.Error
	if failure == nil || failure.Code != string(lifecycle.CodeTimedOut) || !strings.Contains(failure.Message, "ImagePullBackOff: no such image: ide:1") {
		t.Errorf("%+v", failure)
	}
	w.keepPods = false
	w.converge()
	w.expectState("RUNNING")
}

func TestPodDetail(t *testing.T) {
	ended := &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}
	for name, tc := range map[string]struct {
		status corev1.PodStatus
		want   message.Detail
	}{
		"nothing is known": {},
		"no node": {
			status: corev1.PodStatus{Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available"},
			}},
			want: message.Detail{Text: "Unschedulable: 0/3 nodes are available"},
		},
		"a mesh's container ended first": {
			status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
				{Name: "proxy", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}},
				{Name: "workspace", State: corev1.ContainerState{Terminated: ended}},
			}},
			want: message.Detail{Text: "OOMKilled", ExitCode: ptr.To(int32(137))},
		},
		"an init container fails": {
			status: corev1.PodStatus{
				InitContainerStatuses: []corev1.ContainerStatus{
					{Name: "done", Ready: true, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}},
					{Name: "clone", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}, LastTerminationState: corev1.ContainerState{
						Terminated: &corev1.ContainerStateTerminated{Reason: "Error", Message: "no such repository", ExitCode: 128},
					}},
				},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "workspace", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}},
			},
			want: message.Detail{Text: "init container clone: Error: no such repository", ExitCode: ptr.To(int32(128))},
		},
		"an init container has no image": {
			status: corev1.PodStatus{
				InitContainerStatuses: []corev1.ContainerStatus{
					{Name: "clone", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}}},
				},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "workspace", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}},
			},
			want: message.Detail{Text: "init container clone: ErrImagePull: no such image"},
		},
		"a sidecar failed long ago, and the workspace ended": {
			status: corev1.PodStatus{
				InitContainerStatuses: []corev1.ContainerStatus{{Name: "log", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, LastTerminationState: corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{ExitCode: 1},
				}}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "workspace", State: corev1.ContainerState{Terminated: ended}}},
			},
			want: message.Detail{Text: "OOMKilled", ExitCode: ptr.To(int32(137))},
		},
		"evicted": {status: corev1.PodStatus{Reason: "Evicted"}, want: message.Detail{Text: "Evicted"}},
		"ended": {
			status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: ended}}}},
			want:   message.Detail{Text: "OOMKilled", ExitCode: ptr.To(int32(137))},
		},
		"ended, and waits": {
			status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
				State:                corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}},
				LastTerminationState: corev1.ContainerState{Terminated: ended},
			}}},
			want: message.Detail{Text: "OOMKilled", ExitCode: ptr.To(int32(137))},
		},
	} {
		if diff := cmp.Diff(tc.want, podDetail(&corev1.Pod{Status: tc.status}, "workspace")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
