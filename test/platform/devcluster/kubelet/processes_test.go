package kubelet

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestEndsAreReported(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxMessage)
	for name, c := range map[string]struct {
		script, policy string
		phase          corev1.PodPhase
		want           corev1.ContainerStateTerminated
	}{
		"success":            {"echo hello", "", corev1.PodSucceeded, corev1.ContainerStateTerminated{Reason: "Completed"}},
		"failure":            {"echo no; exit 3", "", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}},
		"message":            {"printf bye >/dev/termination-log", "", corev1.PodSucceeded, corev1.ContainerStateTerminated{Reason: "Completed", Message: "bye"}},
		"message too long":   {"printf no%s " + long + " >/dev/termination-log; exit 1", "", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: long}},
		"log as message":     {"echo why >&2; exit 1", "FallbackToLogsOnError", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "why\n"}},
		"message before log": {"echo why; printf bye >/dev/termination-log; exit 1", "FallbackToLogsOnError", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "bye"}},
		"no log when well":   {"echo why", "FallbackToLogsOnError", corev1.PodSucceeded, corev1.ContainerStateTerminated{Reason: "Completed"}},
		"out of memory":      {"kill -9 $$$$", "", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
		"another signal":     {"kill -15 $$$$", "", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 143, Reason: "Error"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, c.script)
			h.pod.Spec.Containers[0].TerminationMessagePolicy = corev1.TerminationMessagePolicy(c.policy)
			status := h.ended()
			got := end(t, status)
			if got.StartedAt.IsZero() || got.FinishedAt.Before(&got.StartedAt) {
				t.Errorf("it ran from %s to %s", got.StartedAt, got.FinishedAt)
			}
			got.StartedAt, got.FinishedAt, got.ContainerID = metav1.Time{}, metav1.Time{}, ""
			if diff := cmp.Diff(c.want, got); diff != "" || status.Phase != c.phase {
				t.Errorf("phase %s, want %s:\n%s", status.Phase, c.phase, diff)
			}
			if again, _, _ := h.Sync(t.Context(), h.pod, time.Now()); !cmp.Equal(again, status) {
				t.Errorf("an ended pod changed:\n%s", cmp.Diff(status, again))
			}
		})
	}
}

func TestLogsStay(t *testing.T) {
	t.Parallel()
	h := newHost(t, "echo out; echo err >&2")
	h.ended()
	h.stop(0)
	if _, gone, err := h.Stop(t.Context(), podName, nil, time.Now()); err != nil || !gone {
		t.Fatalf("gone %t: %v", gone, err)
	}
	if got := h.read("a/0.log"); got != "out\nerr\n" {
		t.Errorf("the log says %q", got)
	}
	if _, err := os.Stat(h.file("volumes")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the volumes outlived the pod: %v", err)
	}
}

// Another Sync changes nothing while nothing happens: no status write, hence no loop.
func TestSyncAgainChangesNothing(t *testing.T) {
	t.Parallel()
	h := newHost(t, "exec sleep 1000")
	before := h.ready()
	after, again, err := h.Sync(t.Context(), h.pod, time.Now().Add(time.Hour))
	if diff := cmp.Diff(before, after); diff != "" || again != 0 || err != nil {
		t.Errorf("again in %s, %v:\n%s", again, err, diff)
	}
	if before.Phase != corev1.PodRunning || before.PodIP != nodeAddress {
		t.Errorf("running as %+v", before)
	}
}

func TestDeletedPodsHaveTheirGrace(t *testing.T) {
	t.Parallel()
	t.Run("used", func(t *testing.T) {
		t.Parallel()
		h := newHost(t, `trap 'printf saved >/dev/termination-log; exit 0' TERM; echo >ready; sleep 1000 & wait`)
		h.ready()
		h.exists("a/work/ready")
		status := h.stop(1000)
		if got := end(t, status); got.Message != "saved" || got.ExitCode != 0 || status.Phase != corev1.PodSucceeded {
			t.Errorf("ended as %s with %+v", status.Phase, got)
		}
	})
	t.Run("over", func(t *testing.T) {
		t.Parallel()
		h := newHost(t, `trap '' TERM; echo >ready; while :; do sleep 1000 & wait; done`)
		h.ready()
		h.exists("a/work/ready")
		h.pod.DeletionGracePeriodSeconds = ptr.To[int64](1000)
		now := time.Now()
		for _, later := range []time.Duration{0, 999 * time.Second} {
			if _, gone, _ := h.Stop(t.Context(), podName, h.pod, now.Add(later)); gone {
				t.Fatalf("it ended %s after SIGTERM, which it ignores", later)
			}
		}
		status, gone, _ := h.Stop(t.Context(), podName, h.pod, now.Add(1000*time.Second))
		for end := time.After(patience); !gone; status, gone, _ = h.Stop(t.Context(), podName, h.pod, now) {
			h.await("killed", pollInterval, end)
		}
		if got := end(t, status); got.ExitCode != 137 || got.Reason != "Error" || status.Phase != corev1.PodFailed {
			t.Errorf("ended as %s with %+v", status.Phase, got)
		}
	})
}

// Nothing that a container began outlives it, even in a session of its own.
func TestNoProcessIsLeft(t *testing.T) {
	t.Parallel()
	for name, finish := range map[string]func(*host){
		"its end":           func(h *host) { h.write("finish"); h.ended() },
		"the pod's end":     func(h *host) { h.stop(0) },
		"the node's end":    func(h *host) { h.Close() },
		"the node's return": func(h *host) { h.restart(h.dir) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, `setsid sleep 1000 & echo $! >child; sleep 1000 & until [ -e finish ]; do sleep 0.05; done`)
			h.ready()
			h.exists("a/work/child")
			for end := time.After(patience); len(h.marked()) < 3; h.await("the shell and its children", pollInterval, end) {
			}
			finish(h)
			for end := time.After(patience); len(h.marked()) > 0; h.await("gone", pollInterval, end) {
			}
		})
	}
}

// The pod's spec says what becomes of ended containers; the second end is distinguished from the first.
func TestRestartPolicies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy corev1.RestartPolicy
		code   int
		again  bool
	}{
		"always, well":      {corev1.RestartPolicyAlways, 0, true},
		"always, failed":    {corev1.RestartPolicyAlways, 1, true},
		"on failure, well":  {corev1.RestartPolicyOnFailure, 0, false},
		"on failure failed": {corev1.RestartPolicyOnFailure, 1, true},
		"never, failed":     {corev1.RestartPolicyNever, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, fmt.Sprintf("[ ! -e again ] || exec sleep 1000; echo >again; exit %d", c.code))
			h.pod.Spec.RestartPolicy = c.policy
			if !c.again {
				h.ended()
				return
			}
			h.until("started again", func(s corev1.PodStatus) bool { return s.ContainerStatuses[0].RestartCount == 1 })
			status := h.ready().ContainerStatuses[0]
			if last := status.LastTerminationState.Terminated; last == nil || int(last.ExitCode) != c.code {
				t.Errorf("the end before was %+v", last)
			}
		})
	}
}

// A process is killed from outside: the container is started again and says why.
func TestKilledFromOutside(t *testing.T) {
	t.Parallel()
	h := newHost(t, "exec sleep 1000")
	h.pod.Spec.RestartPolicy = corev1.RestartPolicyAlways
	h.ready()
	first := h.pidOf("a")
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	status := h.until("up again", func(s corev1.PodStatus) bool {
		return s.ContainerStatuses[0].RestartCount == 1 && s.ContainerStatuses[0].Ready
	})
	if last := status.ContainerStatuses[0].LastTerminationState.Terminated; last == nil || last.Reason != "OOMKilled" {
		t.Errorf("the end before was %+v", last)
	}
	if h.pidOf("a") == first {
		t.Error("the pid file is the old one")
	}
}
