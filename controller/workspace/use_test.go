package workspace

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
)

// W80: what the kubelet reports of the watcher becomes the condition InUse and status.lastActivityTime, and the Workspace runs
// all the same. A Workspace at rest is not written, however long it is used.
func TestUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace(func(ws *v1alpha1.Workspace) { ws.Spec.Ports, ws.Spec.StandbyTTLSeconds = []int32{8080}, 600 }))
	w.converge()
	w.expectState("RUNNING")
	w.watcher(true)
	w.expectUse("True", "InUse")
	began := *w.workspace().Status.LastActivityTime
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	before := w.faults.writes
	w.converge()
	if w.faults.writes != before || !w.workspace().Status.LastActivityTime.Equal(&began) {
		t.Errorf("%d writes while it is used, last at %v", w.faults.writes-before, w.workspace().Status.LastActivityTime)
	}
	w.watcher(false)
	left := w.clock.Now().Add(-5 * time.Minute)
	w.expectUse("False", "Idle")
	w.expectState("RUNNING")
	if got := w.workspace().Status.LastActivityTime; !got.Time.Equal(left.Truncate(time.Second)) {
		t.Errorf("last used at %v, want %v", got, left)
	}
	w.restart() // nothing is forgotten
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	w.expectUse("False", "Idle")
	if got := w.workspace().Status.LastActivityTime; !got.Time.Equal(left.Truncate(time.Second)) {
		t.Errorf("after a restart, last used at %v, want %v", got, left)
	}
	w.desire(v1alpha1.DesiredStandby)
	w.expectUse("False", "NotRunning")
}

// W109: a Workspace that nobody ever used says since when that could be seen, over starts and stops, until somebody uses it.
func TestNeverUsed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace(func(ws *v1alpha1.Workspace) { ws.Spec.Ports, ws.Spec.StandbyTTLSeconds = []int32{8080}, 600 }))
	since := func() time.Time { return ptr.Deref(w.workspace().Status.UnusedSince, metav1.Time{}).Time }
	w.converge()
	if !since().IsZero() {
		t.Errorf("it has just started, and is unused since %v", since())
	}
	w.unused()
	first := since()
	if first.IsZero() || w.workspace().Status.LastActivityTime != nil {
		t.Errorf("unused since %v, used at %v", first, w.workspace().Status.LastActivityTime)
	}
	w.desire(v1alpha1.DesiredPending)
	w.converge()
	w.clock.SetTime(w.clock.Now().Add(24 * time.Hour))
	w.desire(v1alpha1.DesiredRunning)
	w.converge()
	w.unused()
	if !since().Equal(first) {
		t.Errorf("after another start, unused since %v, want %v", since(), first)
	}
	w.watcher(true)
	w.expectUse("True", "InUse")
	if !since().IsZero() || w.workspace().Status.LastActivityTime == nil {
		t.Errorf("unused since %v, used at %v", since(), w.workspace().Status.LastActivityTime)
	}
}

// unused lets the watcher find that nobody has used the Workspace since the watcher started.
func (w *world) unused() {
	w.Helper()
	w.watcher(false)
	pod := &corev1.Pod{}
	w.has("ws-home", pod)
	started := pod.Status.InitContainerStatuses[0].State.Running.StartedAt
	for i := range pod.Status.Conditions {
		pod.Status.Conditions[i].LastTransitionTime = metav1.NewTime(started.Add(6 * time.Minute))
	}
	if err := w.server.Status().Update(w.Context(), pod); err != nil {
		w.Fatal(err)
	}
	w.expectUse("False", "Idle")
}

func (w *world) expectUse(status metav1.ConditionStatus, reason string) {
	w.Helper()
	w.converge()
	if got := meta.FindStatusCondition(w.workspace().Status.Conditions, v1alpha1.ConditionInUse); got.Status != status || got.Reason != reason {
		w.Errorf("InUse: %+v, want %s", got, reason)
	}
}

// watcher writes the status of the Pod with a watcher that has run for an hour.
func (w *world) watcher(ready bool) {
	w.Helper()
	pod := &corev1.Pod{}
	if !w.has("ws-home", pod) {
		w.Fatal("there is no Pod")
	}
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(w.clock.Now().Add(-time.Hour))}}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: objects.WatcherContainer, Ready: ready, State: state}}
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: objects.WorkspaceContainer, Ready: true, State: state}}
	verdict := corev1.ConditionFalse
	if ready {
		verdict = corev1.ConditionTrue
	}
	pod.Status.Conditions = nil
	for _, kind := range []corev1.PodConditionType{corev1.PodReady, corev1.ContainersReady} {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: verdict, LastTransitionTime: metav1.NewTime(w.clock.Now())})
	}
	if err := w.server.Status().Update(w.Context(), pod); err != nil {
		w.Fatal(err)
	}
}
