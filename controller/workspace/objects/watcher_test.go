package objects_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
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
	if added := objects.AddWatcher(pod, ws, image, objects.DefaultWatcherResources()); added != (len(pod.Spec.InitContainers) > 0) {
		t.Errorf("added: %v", added)
	}
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
			if watcher, _ := objects.Watcher(ann(), pod); len(pod.Spec.InitContainers) > 0 || watcher.Exists {
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

// What the kubelet reports of a watcher: only what that has said makes a Workspace idle (W104).
func TestWhatTheKubeletReports(t *testing.T) {
	noon := metav1.NewTime(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
	at := func(seconds int) metav1.Time { return metav1.NewTime(noon.Add(time.Duration(seconds) * time.Second)) }
	const idle = "idle: last used 5m0s ago"
	for name, test := range map[string]struct {
		watcher, mesh, own bool
		conditions         [2]corev1.ConditionStatus // Ready, ContainersReady
		changed            int                       // seconds after noon, when it started
		said               string
		ready              bool
		want               func(*lifecycle.Watcher)
	}{
		"in use":             {watcher: true, mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"True", "True"}, ready: true},
		"W104: unready":      {mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"False", "False"}, ready: true},
		"idle":               {mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"False", "False"}, said: idle, ready: true, want: func(w *lifecycle.Watcher) { w.Idle = true }},
		"idle for long":      {mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"False", "False"}, changed: -3600, said: idle, ready: true, want: func(w *lifecycle.Watcher) { w.Idle = true }},
		"never used":         {mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"False", "False"}, said: "idle: not used for 5m0s", ready: true, want: func(w *lifecycle.Watcher) { w.Idle, w.LastUsed = true, time.Time{} }},
		"used after that":    {watcher: true, mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"True", "True"}, changed: 60, said: idle, ready: true, want: func(w *lifecycle.Watcher) { w.Idle, w.UsedSince = true, true }},
		"and then unready":   {mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"False", "False"}, changed: 60, said: idle, ready: true, want: func(w *lifecycle.Watcher) { w.Idle, w.UsedSince = true, true }},
		"without a mesh":     {own: true, conditions: [2]corev1.ConditionStatus{"False", "False"}, said: idle, ready: true, want: func(w *lifecycle.Watcher) { w.Idle, w.Unsure = true, true }},
		"not ready":          {watcher: true, mesh: true, conditions: [2]corev1.ConditionStatus{"False", "False"}},
		"nothing listens":    {watcher: true, mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"True", "True"}, said: "nothing listens\n", ready: true, want: func(w *lifecycle.Watcher) { w.NothingListens = true }},
		"it was killed":      {watcher: true, mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"True", "True"}, said: "OOMKilled", ready: true},
		"on a lost node":     {watcher: true, mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"False", "True"}},
		"idle, and unready":  {mesh: true, conditions: [2]corev1.ConditionStatus{"False", "False"}, said: idle, want: func(w *lifecycle.Watcher) { w.Idle, w.Unsure = true, true }},
		"idle, but no mesh":  {own: true, conditions: [2]corev1.ConditionStatus{"False", "False"}, changed: 60, said: idle, ready: true, want: func(w *lifecycle.Watcher) { w.Idle, w.Unsure, w.UsedSince = true, true, true }},
		"something listens":  {watcher: true, mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"True", "True"}, said: "something listens", ready: true},
		"an earlier success": {watcher: true, mesh: true, own: true, conditions: [2]corev1.ConditionStatus{"True", "True"}, ready: true},
	} {
		pod := watched(t, "kyklos:1", nil)
		runs := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: noon}}
		status := corev1.ContainerStatus{Name: objects.WatcherContainer, Ready: test.watcher, State: runs}
		if test.said != "" {
			status.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{Message: test.said, FinishedAt: at(-1)}
		}
		pod.Status = corev1.PodStatus{
			InitContainerStatuses: []corev1.ContainerStatus{{Name: "mesh", Ready: test.mesh, State: runs}, status},
			ContainerStatuses:     []corev1.ContainerStatus{{Name: objects.WorkspaceContainer, Ready: test.own, State: runs}},
			Conditions: []corev1.PodCondition{
				{Type: corev1.PodReady, Status: test.conditions[0], Reason: map[bool]string{true: "ContainersNotReady"}[test.conditions[1] == "False"]}, {Type: corev1.ContainersReady, Status: test.conditions[1], LastTransitionTime: at(test.changed)},
			},
		}
		want := lifecycle.Watcher{Exists: true, Runs: true, Ready: test.watcher, StartedAt: noon.Time, Lasts: 5 * time.Minute}
		if strings.HasPrefix(test.said, "idle") {
			want.SaidAt, want.LastUsed = at(-1).Time, at(-301).Time
		}
		if test.want != nil {
			test.want(&want)
		}
		if got, _ := objects.Watcher(ann(), pod); got != want || objects.Ready(pod) != test.ready {
			t.Errorf("%s: ready %v, %+v", name, objects.Ready(pod), got)
		}
	}
	pod := watched(t, "kyklos:1", nil)
	said := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Message: idle, FinishedAt: noon}}
	for name, status := range map[string]corev1.ContainerStatus{"ends": {State: said}, "restarts": {LastTerminationState: said}} {
		status.Name = objects.WatcherContainer
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{status}
		if got, _ := objects.Watcher(ann(), pod); !got.Idle || got.Runs || got.UsedSince || !got.SaidAt.Equal(noon.Time) {
			t.Errorf("while it %s: %+v", name, got)
		}
	}
	pod = watched(t, "kyklos:1", nil)
	if got, _ := objects.Watcher(ann(), pod); objects.Ready(pod) || got != (lifecycle.Watcher{Exists: true, Lasts: 5 * time.Minute}) {
		t.Errorf("without a status: %+v", got)
	}
}

// W103: a Pod tells that nobody uses the Workspace if it watches all that counts, and something does.
func TestAPodOfAnEarlierSpec(t *testing.T) {
	ports, percent := func(ports ...int32) func(*v1alpha1.WorkspaceSpec) {
		return func(s *v1alpha1.WorkspaceSpec) { s.Ports = ports }
	}, func(percent int32) func(*v1alpha1.WorkspaceSpec) {
		return func(s *v1alpha1.WorkspaceSpec) { s.Activity.CPUPercent = percent }
	}
	for name, test := range map[string]struct {
		before, after  func(*v1alpha1.WorkspaceSpec)
		same, outdated bool
	}{
		"nothing has changed": {ports(80, 443), ports(80, 443), true, false},
		"another port":        {ports(80), ports(443), false, true},
		"one more":            {ports(80), ports(80, 443), false, true},
		"one less":            {ports(80, 443), ports(443), false, false},
		"no ports":            {ports(80), ports(), false, true},
		"not connections":     {ports(80), func(s *v1alpha1.WorkspaceSpec) { s.Ports, s.Activity.Connections = []int32{80}, ptr.To(false) }, false, true},
		"CPU, too":            {ports(8080), percent(5), false, true},
		"CPU not any more":    {percent(5), percent(0), false, false},
		"more CPU is no use":  {percent(5), percent(10), false, false},
		"less CPU is use":     {percent(10), percent(5), false, true},
		"another idle time":   {func(*v1alpha1.WorkspaceSpec) {}, func(s *v1alpha1.WorkspaceSpec) { s.StandbyTTLSeconds = 60 }, true, false},
	} {
		pod, ws := watched(t, "kyklos:1", test.before), ann()
		test.after(&ws.Spec)
		pod.Spec = corev1.PodSpec{} // the manager does not keep it
		watcher, watches := objects.Watcher(ws, pod)
		if same := watches.Same(objects.WatchesOf(&ws.Spec)); watcher.Outdated != test.outdated || same != test.same {
			t.Errorf("%s: outdated %v, the same %v: %+v", name, watcher.Outdated, same, watches)
		}
	}
}

// W106: the watcher knows how often the kubelet connects by itself.
func TestProbesOfThePod(t *testing.T) {
	for name, test := range map[string]struct {
		probe    *v1alpha1.Probe
		template string
		want     string
	}{
		"none":              {nil, "", ""},
		"each ten seconds":  {&v1alpha1.Probe{HTTPGet: &v1alpha1.HTTPGet{Port: 8080}}, "", "6"},
		"each seven":        {&v1alpha1.Probe{PeriodSeconds: 7, HTTPGet: &v1alpha1.HTTPGet{Port: 8080}}, "", "9"},
		"of another port":   {&v1alpha1.Probe{HTTPGet: &v1alpha1.HTTPGet{Port: 9090}}, "", ""},
		"which is not HTTP": {&v1alpha1.Probe{TCPSocket: &v1alpha1.TCPSocket{Port: 8080}}, "", ""},
		"and those of a sidecar": {&v1alpha1.Probe{HTTPGet: &v1alpha1.HTTPGet{Port: 8080}},
			`{"containers":[{"name":"mesh","image":"mesh:1","livenessProbe":{"periodSeconds":5,"httpGet":{"port":"web"}}}]}`, "18"},
	} {
		pod := watched(t, "kyklos:1", func(s *v1alpha1.WorkspaceSpec) {
			s.ReadinessProbe = test.probe
			if test.template != "" {
				s.Template = &v1alpha1.PodTemplate{Spec: runtime.RawExtension{Raw: []byte(test.template)}}
			}
		})
		args := pod.Spec.InitContainers[0].Args
		got := ""
		if i := slices.Index(args, "--probes"); i >= 0 {
			got = args[i+1]
		}
		if got != test.want {
			t.Errorf("%s: %q of %v", name, got, args)
		}
	}
}
