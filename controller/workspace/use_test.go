package workspace

import (
	"strings"
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
	w.watcher(false) // W104: a node that is slow looks the same
	w.expectUse("True", "InUse")
	if w.clock.SetTime(w.clock.Now().Add(time.Hour)); !w.workspace().Status.LastActivityTime.Equal(&began) {
		t.Errorf("last used at %v", w.workspace().Status.LastActivityTime)
	}
	w.watcher(true)
	w.expectUse("True", "InUse")
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	w.watcher(false, "idle: last used 5m0s ago")
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

// unused lets the watcher say that nobody has used the Workspace since the watcher started.
func (w *world) unused() {
	w.Helper()
	w.watcher(false, "idle: not used for 5m0s")
	w.expectUse("False", "Idle")
}

// W103: settings that apply at the next start change nothing before: what the Pod is not known to watch does not stop it, the
// condition says so, and the Service leads to the ports with which it was started.
func TestChangesOfARunningWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t, aWorkspace(func(ws *v1alpha1.Workspace) { ws.Spec.Ports, ws.Spec.StandbyTTLSeconds = []int32{8080}, 600 }))
	w.converge()
	w.watcher(true)
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Ports, ws.Spec.Activity.CPUPercent = []int32{9090}, 5 })
	w.expectUse("True", "InUse")
	w.expectSays(v1alpha1.ConditionInUse, "somebody is connected to port 8080, and for", "has changed since the Pod was started")
	w.expectService(v1alpha1.ReasonServiceReady, address)
	w.expectSays(v1alpha1.ConditionServiceReady, "leads to port 8080", "has changed since the Pod was started")
	if ports := w.service().Spec.Ports; len(ports) != 1 || ports[0].Port != 8080 {
		t.Errorf("the Service has %+v", ports)
	}
	w.watcher(false, "idle: not used for 5m0s")
	w.expectUse("Unknown", "NoActivitySource")
	w.expectSays(v1alpha1.ConditionInUse, "nobody was connected to port 8080", "something else counts", "has changed since the Pod was started")
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Ports = nil })
	w.converge()
	w.expectService(v1alpha1.ReasonServiceReady, address)
	w.desire(v1alpha1.DesiredStandby)
	w.converge()
	w.expectService(v1alpha1.ReasonNoPorts, "")
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.DesiredState = v1alpha1.DesiredRunning })
	w.converge()
	w.expectState("RUNNING")
	w.change(func(ws *v1alpha1.Workspace) { ws.Spec.Ports = []int32{9090} })
	w.converge()
	w.expectService(v1alpha1.ReasonNoPorts, "")
	w.expectSays(v1alpha1.ConditionServiceReady, "started without ports", "has changed since the Pod was started")
	w.desire(v1alpha1.DesiredStandby)
	w.converge()
	w.expectService(v1alpha1.ReasonServiceReady, "ws-home.team.svc:9090")
}

// expectSays checks the message of a condition.
func (w *world) expectSays(kind string, parts ...string) {
	w.Helper()
	message := meta.FindStatusCondition(w.workspace().Status.Conditions, kind).Message
	for _, part := range parts {
		if !strings.Contains(message, part) {
			w.Errorf("%s says %q, not %q", kind, message, part)
		}
	}
}

func (w *world) expectUse(status metav1.ConditionStatus, reason string) {
	w.Helper()
	w.converge()
	if got := meta.FindStatusCondition(w.workspace().Status.Conditions, v1alpha1.ConditionInUse); got.Status != status || got.Reason != reason {
		w.Errorf("InUse: %+v, want %s", got, reason)
	}
}

// watcher writes the status of the Pod with a watcher that has run for an hour, or has just said something and runs again.
func (w *world) watcher(ready bool, says ...string) {
	w.Helper()
	pod := &corev1.Pod{}
	if !w.has("ws-home", pod) {
		w.Fatal("there is no Pod")
	}
	now := metav1.NewTime(w.clock.Now())
	state := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(now.Add(-time.Hour))}}
	watcher := corev1.ContainerStatus{Name: objects.WatcherContainer, Ready: ready, State: state}
	for _, message := range says {
		watcher.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}}
		watcher.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Message: message, FinishedAt: now}
	}
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{watcher}
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
