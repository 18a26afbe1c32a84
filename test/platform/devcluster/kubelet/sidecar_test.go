package kubelet

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// beside adds a sidecar that runs the shell script.
func (h *host) beside(script string) *corev1.Container {
	h.pod.Spec.InitContainers = []corev1.Container{{
		Name: "side", Image: "host://shell", Command: []string{"sh", "-c", script}, RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
		TerminationMessagePath: "/dev/termination-log",
	}}
	return &h.pod.Spec.InitContainers[0]
}

// side is the sidecar's status.
func side(status corev1.PodStatus) corev1.ContainerStatus {
	if len(status.InitContainerStatuses) == 0 {
		return corev1.ContainerStatus{}
	}
	return status.InitContainerStatuses[0]
}

// The containers start beside a sidecar; it ends after them, and the pod has succeeded whatever it ends with.
func TestASidecarEndsLast(t *testing.T) {
	h := newHost(t, `while ! test -e go; do sleep 0.1; done; echo a >../../order`)
	h.beside(`trap "echo side >>../../order; exit 7" TERM; while :; do sleep 0.1; done`)
	h.ready()
	h.write("go")
	if status := h.ended(); status.Phase != corev1.PodSucceeded {
		t.Errorf("%s: %s", status.Phase, status.Message)
	}
	h.until("the sidecar ended", func(corev1.PodStatus) bool { return len(h.marked()) == 0 })
	if order := h.read("order"); order != "a\nside\n" {
		t.Errorf("they ended in the order %q", order)
	}
}

// So it does when the pod is deleted.
func TestADeletedPodsSidecarEndsLast(t *testing.T) {
	h := newHost(t, `trap "echo a >>../../order; exit 0" TERM; touch ready; while :; do sleep 0.1; done`)
	h.beside(`trap "echo side >>../../order; exit 0" TERM; touch ready; while :; do sleep 0.1; done`)
	h.ready()
	h.exists("a/work/ready")
	h.exists("side/work/ready")
	h.stop(1000)
	if order := h.read("order"); order != "a\nside\n" {
		t.Errorf("they ended in the order %q", order)
	}
}

// A sidecar that ends is started again, whatever the pod's restartPolicy.
func TestASidecarIsRestarted(t *testing.T) {
	h := newHost(t, `sleep 1000`)
	h.beside(`exit 0`)
	h.until("restarted", func(s corev1.PodStatus) bool { return side(s).RestartCount >= 2 && s.Phase == corev1.PodRunning })
}

// A pod is as ready as its sidecar. Its probe runs the image's program, and is not repeated more often than asked for.
func TestASidecarsReadiness(t *testing.T) {
	h := newHost(t, `sleep 1000`)
	probed := h.beside(`echo >/dev/termination-log; sleep 1000`)
	probed.Image = "host:///bin/sh"
	probed.ReadinessProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/no-such-program", "-c", "grep -q used /dev/termination-log"}}},
		PeriodSeconds: 1, TimeoutSeconds: 30, SuccessThreshold: 1, FailureThreshold: 1,
	}
	status := h.ready()
	if ready := condition(t, status, corev1.PodReady); ready.Status != corev1.ConditionFalse || side(status).Ready {
		t.Errorf("the pod is %s, its sidecar %+v", ready.Status, side(status))
	}
	h.writeFile("side/termination-log", "used")
	status = h.until("ready", func(s corev1.PodStatus) bool { return side(s).Ready })
	if ready := condition(t, status, corev1.PodReady); ready.Status != corev1.ConditionTrue {
		t.Errorf("the pod is %s", ready.Status)
	}
	h.writeFile("side/termination-log", "")
	h.until("unready", func(s corev1.PodStatus) bool { return !side(s).Ready })
}

func TestASimulatedSidecar(t *testing.T) {
	for annotation, ready := range map[string]corev1.ConditionStatus{"false": corev1.ConditionFalse, "": corev1.ConditionTrue} {
		p := pod(map[string]string{SidecarsReadyAnnotation: annotation})
		p.Spec.InitContainers = []corev1.Container{
			{Name: "once"}, {Name: "side", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways), ReadinessProbe: &corev1.Probe{}},
		}
		status, _, err := Simulated{}.Sync(context.Background(), p, noon)
		if err != nil {
			t.Fatal(err)
		}
		all := status.InitContainerStatuses
		if len(all) != 1 || all[0].State.Running == nil || all[0].Ready != (ready == corev1.ConditionTrue) || !status.ContainerStatuses[0].Ready {
			t.Errorf("%q: %+v", annotation, status)
		}
		if got := condition(t, status, corev1.PodReady); got.Status != ready || ready == corev1.ConditionFalse && !strings.Contains(got.Message, "side") {
			t.Errorf("%q: %+v", annotation, got)
		}
	}
}
