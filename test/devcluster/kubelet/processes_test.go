package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// patience bounds every wait; it is no expectation of speed.
const patience = 30 * time.Second

// host drives Processes as a Kubelet does, for one pod whose status it keeps.
type host struct {
	*Processes
	t       *testing.T
	pod     *corev1.Pod
	changed chan struct{}
}

var podName = types.NamespacedName{Namespace: "ns", Name: "pod"}

// newHost has one pod of one container that runs the shell script.
func newHost(t *testing.T, script string, objects ...served) *host {
	t.Helper()
	h := &host{t: t, pod: &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: podName.Namespace, Name: podName.Name, UID: "5e5f27a5"},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{
			Name: "a", Image: "host://shell", Command: []string{"sh", "-c", script}, TerminationMessagePath: "/dev/termination-log",
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending},
	}}
	h.restart(filepath.Join(t.TempDir(), "pods"), objects...)
	return h
}

// restart is another devcluster on the folder.
func (h *host) restart(dir string, objects ...served) {
	h.t.Helper()
	made, err := NewProcesses(serving(h.t, objects), dir)
	if err != nil {
		h.t.Fatal(err)
	}
	h.Processes, h.changed = made, make(chan struct{}, 1)
	made.Notify(func(types.NamespacedName) {
		select {
		case h.changed <- struct{}{}:
		default:
		}
	})
	h.t.Cleanup(made.Close)
}

// served is an object by its path in the API.
type served struct {
	path   string
	object any
}

// serving is a client of a server that has these objects and no others.
func serving(t *testing.T, objects []served) kubernetes.Interface {
	t.Helper()
	mux := http.NewServeMux()
	for _, one := range objects {
		mux.HandleFunc("GET "+one.path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(one.object)
		})
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// until looks at the pod, as often as it asks for and says that it has changed, until it is as wanted.
func (h *host) until(what string, wanted func(corev1.PodStatus) bool) corev1.PodStatus {
	h.t.Helper()
	end := time.After(patience)
	for {
		status, again, err := h.Sync(context.Background(), h.pod, time.Now())
		if err != nil {
			h.t.Fatal(err)
		}
		h.pod.Status = status
		if wanted(status) {
			return status
		}
		h.await(what, again, end)
	}
}

func (h *host) await(what string, again time.Duration, end <-chan time.Time) {
	h.t.Helper()
	var timer <-chan time.Time
	if again > 0 {
		timer = time.After(again)
	}
	select {
	case <-h.changed:
	case <-timer:
	case <-end:
		h.t.Fatalf("not %s: %+v", what, h.pod.Status)
	}
}

func (h *host) ended() corev1.PodStatus {
	h.t.Helper()
	return h.until("ended", func(s corev1.PodStatus) bool { return terminal(s.Phase) })
}

func (h *host) ready() corev1.PodStatus {
	h.t.Helper()
	return h.until("ready", func(s corev1.PodStatus) bool { return len(s.ContainerStatuses) > 0 && s.ContainerStatuses[0].Ready })
}

// stop deletes the pod and returns the status that it ends with.
func (h *host) stop(grace int64) corev1.PodStatus {
	h.t.Helper()
	h.pod.DeletionGracePeriodSeconds = &grace
	for end := time.After(patience); ; {
		status, gone, err := h.Stop(context.Background(), podName, h.pod, time.Now())
		if err != nil {
			h.t.Fatal(err)
		}
		if gone {
			return status
		}
		h.await("stopped", look, end)
	}
}

func (h *host) file(name string) string { return filepath.Join(h.dir, "ns_pod_5e5f27a5", name) }

func (h *host) read(name string) string {
	h.t.Helper()
	content, err := os.ReadFile(h.file(name))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(content)
}

// pid of the container's process; the file is there as soon as the container runs.
func (h *host) pidOf(container string) int {
	h.t.Helper()
	pid, err := strconv.Atoi(h.read(container + ".pid"))
	if err != nil {
		h.t.Fatal(err)
	}
	return pid
}

func end(t *testing.T, status corev1.PodStatus) corev1.ContainerStateTerminated {
	t.Helper()
	if len(status.ContainerStatuses) != 1 || status.ContainerStatuses[0].State.Terminated == nil {
		t.Fatalf("no end in %+v", status)
	}
	return *status.ContainerStatuses[0].State.Terminated
}

func TestEndsAreReported(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxMessage)
	for name, c := range map[string]struct {
		script, policy string
		phase          corev1.PodPhase
		want           corev1.ContainerStateTerminated
	}{
		"success":          {"echo hello", "", corev1.PodSucceeded, corev1.ContainerStateTerminated{Reason: "Completed"}},
		"failure":          {"echo no; exit 3", "", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error"}},
		"last words":       {"printf bye >/dev/termination-log", "", corev1.PodSucceeded, corev1.ContainerStateTerminated{Reason: "Completed", Message: "bye"}},
		"too many words":   {"printf no%s " + long + " >/dev/termination-log; exit 1", "", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: long}},
		"log for words":    {"echo why >&2; exit 1", "FallbackToLogsOnError", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "why\n"}},
		"words before log": {"echo why; printf bye >/dev/termination-log; exit 1", "FallbackToLogsOnError", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: "bye"}},
		"no log when well": {"echo why", "FallbackToLogsOnError", corev1.PodSucceeded, corev1.ContainerStateTerminated{Reason: "Completed"}},
		"out of memory":    {"kill -9 $$$$", "", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"}},
		"another signal":   {"kill -15 $$$$", "", corev1.PodFailed, corev1.ContainerStateTerminated{ExitCode: 143, Reason: "Error"}},
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
	if got := h.read("a.log"); got != "out\nerr\n" {
		t.Errorf("the log says %q", got)
	}
	if _, err := os.Stat(h.file("volumes")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the volumes outlived the pod: %v", err)
	}
}

// Looking again changes nothing while nothing happens: no status write, hence no loop.
func TestLookingChangesNothing(t *testing.T) {
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
			h.await("killed", look, end)
		}
		if got := end(t, status); got.ExitCode != 137 || got.Reason != "Error" || status.Phase != corev1.PodFailed {
			t.Errorf("ended as %s with %+v", status.Phase, got)
		}
	})
}

// exists waits for a file of the pod's.
func (h *host) exists(name string) {
	h.t.Helper()
	for end := time.After(patience); ; h.await("there: "+name, look, end) {
		if _, err := os.Stat(h.file(name)); err == nil {
			return
		}
	}
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
			marked := func() (pids []int) { return h.marked() }
			if len(marked()) < 3 {
				t.Fatalf("processes %v, want the shell and its children", marked())
			}
			finish(h)
			for end := time.After(patience); len(marked()) > 0; h.await("gone", look, end) {
			}
		})
	}
}

// marked are the processes of the pod that are no zombies.
func (h *host) marked() (pids []int) {
	environments, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range environments {
		environment, _ := os.ReadFile(path)
		if folder, ok := marking(environment); ok && h.owns(folder) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func (h *host) write(name string) {
	h.t.Helper()
	if err := os.WriteFile(h.file("a/work/"+name), nil, 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// The pod's spec says what becomes of ended containers; the second end is told from the first.
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

// A process is killed by somebody: the container is started again and says why.
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
