package objects_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

func watched(t *testing.T, image string, change func(*v1alpha1.WorkspaceSpec)) *corev1.Pod {
	t.Helper()
	ws := ann()
	ws.Spec.StandbyTTLSeconds = 300
	if change != nil {
		change(&ws.Spec)
	}
	pod, err := objects.Pod(ws, action(lifecycle.ActCreatePod))
	if err != nil {
		t.Fatal(err)
	}
	objects.AddWatcher(pod, ws, image)
	return pod
}

// W80, W81: a Workspace with ports, or with a limit of CPU, is watched by a sidecar without credentials, and only the latter shares
// its processes.
func TestWatcher(t *testing.T) {
	const usual = "activity watch --state /activity/state --termination-log /dev/termination-log --use-lasts 5m0s --ignore-shorter 10s"
	for name, test := range map[string]struct {
		change func(*v1alpha1.WorkspaceSpec)
		args   string
		period int32
		shares bool
	}{
		"ports":              {nil, usual + " --ports 8080", 20, false},
		"several":            {func(s *v1alpha1.WorkspaceSpec) { s.Ports = []int32{80, 443} }, usual + " --ports 80,443", 20, false},
		"no ports":           {func(s *v1alpha1.WorkspaceSpec) { s.Ports = nil }, "", 0, false},
		"switched off":       {func(s *v1alpha1.WorkspaceSpec) { s.Activity.Connections = ptr.To(false) }, "", 0, false},
		"CPU":                {func(s *v1alpha1.WorkspaceSpec) { s.Activity.CPUPercent = 5 }, usual + " --ports 8080 --cpu-percent 5", 20, true},
		"CPU alone":          {func(s *v1alpha1.WorkspaceSpec) { s.Ports, s.Activity.CPUPercent = nil, 5 }, usual + " --cpu-percent 5", 20, true},
		"idle for a minute":  {func(s *v1alpha1.WorkspaceSpec) { s.StandbyTTLSeconds = 60 }, "activity watch --state /activity/state --termination-log /dev/termination-log --use-lasts 1m0s --ignore-shorter 2s --ports 8080", 4, false},
		"idle for a day":     {func(s *v1alpha1.WorkspaceSpec) { s.StandbyTTLSeconds = 86400 }, usual + " --ports 8080", 20, false},
		"never stopped":      {func(s *v1alpha1.WorkspaceSpec) { s.StandbyTTLSeconds = 0 }, usual + " --ports 8080", 20, false},
		"a probe that hangs": {func(s *v1alpha1.WorkspaceSpec) { s.ReadinessProbe = &v1alpha1.Probe{TimeoutSeconds: 30} }, strings.Replace(usual, "10s", "35s", 1) + " --ports 8080", 20, false},
	} {
		pod := watched(t, "kyklos:1", test.change)
		if test.args == "" {
			if len(pod.Spec.InitContainers) > 0 || objects.Watcher(pod).Exists {
				t.Errorf("%s: it has a watcher", name)
			}
			continue
		}
		got := pod.Spec.InitContainers[0]
		if strings.Join(got.Args, " ") != test.args || got.ReadinessProbe.PeriodSeconds != test.period || got.Image != "kyklos:1" {
			t.Errorf("%s: %s, each %d s, of %s", name, strings.Join(got.Args, " "), got.ReadinessProbe.PeriodSeconds, got.Image)
		}
		if *got.RestartPolicy != corev1.ContainerRestartPolicyAlways || len(got.VolumeMounts) != 1 || len(got.Env) > 0 || len(got.Resources.Limits) != 2 || len(got.Resources.Requests) != 2 {
			t.Errorf("%s: %+v", name, got)
		}
		if ptr.Deref(pod.Spec.ShareProcessNamespace, false) != test.shares || *got.SecurityContext.RunAsUser == *pod.Spec.SecurityContext.RunAsUser {
			t.Errorf("%s: shares its processes: %v; user %d", name, pod.Spec.ShareProcessNamespace, *got.SecurityContext.RunAsUser)
		}
	}
	if pod := watched(t, "", nil); len(pod.Spec.InitContainers) > 0 {
		t.Error("without an image there is a watcher")
	}
}

func TestWhatTheKubeletReports(t *testing.T) {
	noon := metav1.NewTime(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	runs := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: noon}}
	for name, test := range map[string]struct {
		watcher, mesh, own bool
		conditions         [2]corev1.ConditionStatus // Ready, ContainersReady
		ready, since       bool
	}{
		"in use":                   {true, true, true, [2]corev1.ConditionStatus{"True", "True"}, true, false},
		"idle":                     {false, true, true, [2]corev1.ConditionStatus{"False", "False"}, true, true},
		"not ready":                {true, true, false, [2]corev1.ConditionStatus{"False", "False"}, false, false},
		"idle, and not ready":      {false, true, false, [2]corev1.ConditionStatus{"False", "False"}, false, false},
		"idle, and without a mesh": {false, false, true, [2]corev1.ConditionStatus{"False", "False"}, true, false},
		"on a lost node":           {true, true, true, [2]corev1.ConditionStatus{"False", "True"}, false, false},
	} {
		pod := watched(t, "kyklos:1", nil)
		pod.Status = corev1.PodStatus{
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "mesh", Ready: test.mesh, State: runs}, {Name: objects.WatcherContainer, Ready: test.watcher, State: runs}},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: objects.WorkspaceContainer, Ready: test.own, State: runs}},
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: test.conditions[0], Reason: map[bool]string{true: "ContainersNotReady"}[test.conditions[1] == "False"]}, {Type: corev1.ContainersReady, Status: test.conditions[1], LastTransitionTime: noon},
			},
		}
		got := objects.Watcher(pod)
		want := lifecycle.Watcher{Exists: true, Runs: true, Ready: test.watcher, StartedAt: noon.Time, Lasts: 5 * time.Minute}
		if test.since {
			want.UnreadySince = noon.Time
		}
		if got != want || objects.Ready(pod) != test.ready {
			t.Errorf("%s: ready %v, %+v", name, objects.Ready(pod), got)
		}
	}
	pod := watched(t, "kyklos:1", nil)
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: objects.WatcherContainer, LastTerminationState: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Message: "nothing listens"},
	}}}
	if got := objects.Watcher(pod); !got.NothingListens || got.Runs {
		t.Errorf("while it restarts: %+v", got)
	}
	if pod := watched(t, "kyklos:1", nil); objects.Ready(pod) || objects.Watcher(pod) != (lifecycle.Watcher{Exists: true, Lasts: 5 * time.Minute}) {
		t.Errorf("without a status: %+v", objects.Watcher(pod))
	}
}
