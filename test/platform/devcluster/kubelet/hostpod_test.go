package kubelet

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func TestImagesAndCommands(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		image         string
		command, args []string
		says          string // what the log, the end or the wait has
	}{
		"entrypoint":        {"host:///bin/echo", nil, []string{"hello", "$(HOSTNAME)"}, "hello pod\n"},
		"command and args":  {"host:///bin/false", []string{"echo"}, []string{"you"}, "you\n"},
		"no command":        {"host://name", nil, []string{"a"}, "no command specified"},
		"no such command":   {"host://name", []string{"no-such-command"}, nil, "no-such-command"},
		"no such image":     {"host:///no/such", nil, nil, "ImagePullBackOff"},
		"not a program":     {"host://" + plain, nil, nil, "ImagePullBackOff"},
		"a folder":          {"host:///bin", nil, nil, "ImagePullBackOff"},
		"missing variables": {"host://name", []string{"true"}, nil, "CreateContainerConfigError"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, "")
			h.container().Image, h.container().Command, h.container().Args = c.image, c.command, c.args
			if name == "missing variables" {
				h.container().EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}}
			}
			status := h.until("over", func(s corev1.PodStatus) bool {
				return terminal(s.Phase) || s.ContainerStatuses[0].State.Waiting != nil && s.ContainerStatuses[0].State.Waiting.Message != ""
			})
			said, _ := os.ReadFile(h.file("a/0.log"))
			if end := status.ContainerStatuses[0].State.Terminated; end != nil {
				said = append(said, end.Message...)
			} else {
				said = append(said, status.ContainerStatuses[0].State.Waiting.Reason...)
			}
			if !strings.Contains(string(said), c.says) {
				t.Errorf("it says %q, want %q", said, c.says)
			}
		})
	}
}

func TestMixedImagesAreRefused(t *testing.T) {
	t.Parallel()
	h := newHost(t, "exec sleep 1000")
	h.pod.Spec.Containers = append(h.pod.Spec.Containers, corev1.Container{Name: "b", Image: "nginx"})
	status := h.ready()
	if w := status.ContainerStatuses[1].State.Waiting; w == nil || !strings.Contains(w.Message, "begin with host://") || status.Phase != corev1.PodRunning {
		t.Errorf("the other container waits as %+v", w)
	}
	if condition(t, status, corev1.PodReady).Status != corev1.ConditionFalse {
		t.Error("the pod is ready without it")
	}
}

// Init containers run one after the other and before all others.
func TestInitContainers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		second string
		phase  corev1.PodPhase
		log    string
	}{
		"well":   {"cat /data/1; echo 2 >>/data/1", corev1.PodSucceeded, "1\n2\n"},
		"failed": {"exit 1", corev1.PodFailed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHost(t, "cat /data/1")
			h.mount("data", "/data", "", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
			for i, script := range []string{"echo 1 >/data/1", c.second} {
				initial := *h.container().DeepCopy()
				initial.Name, initial.Command[2] = "init"+strconv.Itoa(i), script
				h.pod.Spec.InitContainers = append(h.pod.Spec.InitContainers, initial)
			}
			if status := h.ended(); status.Phase != c.phase {
				t.Errorf("phase %s, want %s", status.Phase, c.phase)
			}
			if log, _ := os.ReadFile(h.file("a/0.log")); string(log) != c.log {
				t.Errorf("the container said %q, want %q", log, c.log)
			}
		})
	}
}

func TestDeadlineEndsThePod(t *testing.T) {
	t.Parallel()
	h := newHost(t, "exec sleep 1000")
	h.pod.Spec.ActiveDeadlineSeconds = ptr.To[int64](1000)
	status := h.ready()
	if _, again, _ := h.Sync(t.Context(), h.pod, status.StartTime.Add(999*time.Second)); again != time.Second {
		t.Errorf("1 s before its deadline the pod is synced again in %s", again)
	}
	late := status.StartTime.Add(1000 * time.Second)
	for end := time.After(patience); !terminal(h.pod.Status.Phase); h.await("ended", pollInterval, end) {
		h.pod.Status, _, _ = h.Sync(t.Context(), h.pod, late)
	}
	if got := h.pod.Status; got.Phase != corev1.PodFailed || got.Reason != "DeadlineExceeded" || len(h.marked()) > 0 {
		t.Errorf("it ended as %s, %s, with processes %v", got.Phase, got.Reason, h.marked())
	}
}

// A later devcluster continues from the pod's status.
func TestNodeReturns(t *testing.T) {
	t.Parallel()
	for policy, phase := range map[corev1.RestartPolicy]corev1.PodPhase{corev1.RestartPolicyAlways: corev1.PodRunning, corev1.RestartPolicyNever: corev1.PodFailed} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			h := newHost(t, "exec sleep 1000")
			h.pod.Spec.RestartPolicy = policy
			h.ready()
			h.restart(h.dir)
			status := h.until(string(phase), func(s corev1.PodStatus) bool {
				return s.Phase == phase && (terminal(phase) || s.ContainerStatuses[0].Ready)
			}).ContainerStatuses[0]
			lost := status.State.Terminated
			if policy == corev1.RestartPolicyAlways {
				lost = status.LastTerminationState.Terminated
			}
			if lost == nil || lost.ExitCode != 137 || lost.Reason != "ContainerStatusUnknown" {
				t.Errorf("the process that was lost ended as %+v", lost)
			}
		})
	}
}

// A pod of the same name takes over when its forerunner was deleted by force.
func TestForerunnerEndsFirst(t *testing.T) {
	t.Parallel()
	h := newHost(t, "exec sleep 1000")
	h.ready()
	first := h.pidOf("a")
	h.pod.UID, h.pod.Status = "another", corev1.PodStatus{Phase: corev1.PodPending}
	h.ready()
	for _, pid := range h.marked() {
		if pid == first {
			t.Error("the forerunner still runs")
		}
	}
}

func TestReadinessProbes(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ready" || r.Header.Get("X-Probe") != "yes" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	address, _ := url.Parse(server.URL)
	_, text, _ := net.SplitHostPort(address.Host)
	port, _ := strconv.Atoi(text)
	get := &corev1.HTTPGetAction{Path: "ready", Port: intstr.FromString("web"), Scheme: "HTTP", HTTPHeaders: []corev1.HTTPHeader{{Name: "X-Probe", Value: "yes"}}}
	for name, handler := range map[string]corev1.ProbeHandler{
		"exec":      {Exec: &corev1.ExecAction{Command: []string{"test", "-e", "/data/up"}}},
		"httpGet":   {HTTPGet: get},
		"tcpSocket": {TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(int32(port))}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, "echo >/data/up; exec sleep 1000")
			h.mount("data", "/data", "", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}})
			h.container().Ports = []corev1.ContainerPort{{Name: "web", ContainerPort: int32(port)}}
			h.container().ReadinessProbe = &corev1.Probe{ProbeHandler: handler, TimeoutSeconds: 10, PeriodSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1}
			h.ready()
		})
	}
	t.Run("fails and recovers", func(t *testing.T) {
		h := newHost(t, "exec sleep 1000")
		h.container().ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"test", "-e", "up"}}},
			TimeoutSeconds: 10, PeriodSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1}
		h.until("running", func(s corev1.PodStatus) bool { return s.Phase == corev1.PodRunning && !s.ContainerStatuses[0].Ready })
		h.write("up")
		h.ready()
		if err := os.Remove(h.file("a/work/up")); err != nil {
			t.Fatal(err)
		}
		h.until("unready", func(s corev1.PodStatus) bool { return !s.ContainerStatuses[0].Ready })
	})
}
