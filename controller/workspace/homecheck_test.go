package workspace

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// W98: only what the check says about the home ends the start for good, also between two of its runs.
func TestWhatTheCheckOfAHomeSays(t *testing.T) {
	ended := func(code int32, message string) *corev1.ContainerStateTerminated {
		return &corev1.ContainerStateTerminated{ExitCode: code, Message: message}
	}
	const missing = `{"code":"HOME_MISSING","message":"the volume has no folder home"}`
	for name, test := range map[string]struct {
		status corev1.ContainerStatus
		noHome bool
		says   string
	}{
		"it has no home":         {corev1.ContainerStatus{State: corev1.ContainerState{Terminated: ended(13, missing)}}, true, "the volume has no folder home"},
		"it is started again":    {corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}}, LastTerminationState: corev1.ContainerState{Terminated: ended(13, missing)}}, true, "the volume has no folder home"},
		"the home was put there": {corev1.ContainerStatus{State: corev1.ContainerState{Terminated: ended(0, `{"code":"OK"}`)}, LastTerminationState: corev1.ContainerState{Terminated: ended(13, missing)}}, false, ""},
		"the disk is broken":     {corev1.ContainerStatus{State: corev1.ContainerState{Terminated: ended(11, `{"code":"TAR_CREATE_FAILED","message":"input/output error"}`)}}, false, "input/output error"},
		"it was killed":          {corev1.ContainerStatus{State: corev1.ContainerState{Terminated: ended(137, "")}}, false, ""},
		"another container":      {corev1.ContainerStatus{Name: "clone", State: corev1.ContainerState{Terminated: ended(13, missing)}}, false, ""},
		"it has not ended":       {corev1.ContainerStatus{}, false, ""},
	} {
		if test.status.Name == "" {
			test.status.Name = objects.HomeCheckContainer
		}
		pod := &corev1.Pod{Status: corev1.PodStatus{InitContainerStatuses: []corev1.ContainerStatus{test.status}}}
		if got := podView(aWorkspace(), pod).NoHome; got != test.noHome {
			t.Errorf("%s: no home %t", name, got)
		}
		if detail, _ := checkDetail(pod); detail.Text != test.says {
			t.Errorf("%s: it says %q, want %q", name, detail.Text, test.says)
		}
	}
}

// W98: without Kyklos' image nothing looks for the home, so nothing is started.
func TestWithoutAnImageNoAdoptedVolumeIsStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := w.byHand("work")
	w.applyNaming(v1alpha1.DesiredRunning, claim)
	w.r.MoverImage = ""
	for range 60 {
		if err := w.pass(); err != nil {
			t.Fatal(err)
		}
		w.nodes()
		if e := w.workspace().Status.Error; e != nil && e.Code == string(lifecycle.CodeRefused) {
			break
		}
		w.clock.SetTime(w.clock.Now().Add(time.Second))
	}
	if e := w.workspace().Status.Error; e == nil || !strings.Contains(e.Message, "--mover-image") {
		t.Errorf("it failed for %+v", e)
	}
	var pod corev1.Pod
	if err := w.server.Get(t.Context(), types.NamespacedName{Namespace: home.Namespace, Name: "ws-home"}, &pod); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("there is a Pod: %v", err)
	}
}
