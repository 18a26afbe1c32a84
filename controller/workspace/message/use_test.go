package message_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/lifecycle"
)

// W80, W81, W103: whether a Workspace is used, and what the idle timer makes of it, is said in the condition InUse, by what its Pod
// watches.
func TestInUse(t *testing.T) {
	used := lifecycle.Watcher{Exists: true, Runs: true, Ready: true, StartedAt: eight.Add(-time.Hour), Lasts: 5 * time.Minute}
	idle := used
	idle.Ready, idle.Idle, idle.SaidAt = false, true, eight.Add(-time.Minute)
	unready, outdated, silent := used, idle, used
	unready.Ready, outdated.Outdated, silent.NothingListens = false, true, true
	port := objects.Watches{Ports: []int32{8080}}
	ports := func(ports ...int32) func(*v1alpha1.WorkspaceSpec) {
		return func(s *v1alpha1.WorkspaceSpec) { s.Ports = ports }
	}
	cpu := func(s *v1alpha1.WorkspaceSpec) { s.Activity.CPUPercent = 5 }
	off := func(s *v1alpha1.WorkspaceSpec) { s.Activity.Connections = ptr.To(false) }
	messages := golden.NewMessages(t)
	for _, test := range []struct {
		name    string
		watcher lifecycle.Watcher
		watches objects.Watches
		phase   lifecycle.State
		alter   func(*v1alpha1.WorkspaceSpec)
		want    string
	}{
		{"used", used, port, lifecycle.Running, nil, "True/InUse"},
		{"idle", idle, port, lifecycle.Running, nil, "False/Idle"},
		{"idle, and never stopped", idle, port, lifecycle.Running, func(s *v1alpha1.WorkspaceSpec) { s.StandbyTTLSeconds = 0 }, "False/Idle"},
		{"used, with CPU", used, objects.Watches{Ports: []int32{8080}, CPUPercent: 5}, lifecycle.Running, cpu, "True/InUse"},
		{"idle, with CPU", idle, objects.Watches{Ports: []int32{80, 443}, CPUPercent: 5}, lifecycle.Running, func(s *v1alpha1.WorkspaceSpec) { s.Activity.CPUPercent, s.Ports = 5, []int32{80, 443} }, "False/Idle"},
		{"W104: no answer", unready, port, lifecycle.Running, nil, "True/InUse"},
		{"used, with CPU from the next start on", used, port, lifecycle.Running, cpu, "True/InUse"},
		{"used, without ports from the next start on", used, port, lifecycle.Running, ports(), "True/InUse"},
		{"idle, with fewer ports from the next start on", idle, objects.Watches{Ports: []int32{8080, 9090}}, lifecycle.Running, ports(8080), "False/Idle"},
		{"unknown, with CPU from the next start on", outdated, port, lifecycle.Running, cpu, "Unknown/NoActivitySource"},
		{"unknown, with another port from the next start on", outdated, port, lifecycle.Running, ports(18477), "Unknown/NoActivitySource"},
		{"unknown, and switched off from the next start on", outdated, port, lifecycle.Running, off, "Unknown/NoActivitySource"},
		{"no ports", lifecycle.Watcher{}, objects.Watches{}, lifecycle.Running, ports(), "Unknown/NoActivitySource"},
		{"switched off", lifecycle.Watcher{}, objects.Watches{}, lifecycle.Running, off, "Unknown/NoActivitySource"},
		{"nothing listens", silent, port, lifecycle.Running, nil, "Unknown/NoActivitySource"},
		{"nothing listens, with CPU from the next start on", silent, port, lifecycle.Running, cpu, "Unknown/NoActivitySource"},
		{"an earlier Pod", lifecycle.Watcher{}, objects.Watches{}, lifecycle.Running, nil, "Unknown/NoActivitySource"},
		{"stopped", used, port, lifecycle.Standby, nil, "False/NotRunning"},
	} {
		facts := situation{before: status(test.phase, lifecycle.None), code: lifecycle.CodeConverged, ready: true, alter: func(ws *v1alpha1.Workspace) {
			ws.Spec.Ports, ws.Spec.StandbyTTLSeconds = []int32{8080}, 300
			if test.alter != nil {
				test.alter(&ws.Spec)
			}
		}}.facts()
		facts.Watcher, facts.Watches = test.watcher, test.watches
		written := facts.Status(eight)
		got := meta.FindStatusCondition(written.Conditions, v1alpha1.ConditionInUse)
		if string(got.Status)+"/"+got.Reason != test.want || flaw(strings.TrimSuffix(got.Message, ".")+".") != "" {
			t.Errorf("%s: %+v", test.name, got)
		}
		messages.Add(test.name, got.Message)
	}
}
