package message_test

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/golden"
	"kyklos.io/kyklos/internal/lifecycle"
)

// W80, W81: whether a Workspace is used, and what the idle timer makes of it, is said in the condition InUse.
func TestInUse(t *testing.T) {
	used := lifecycle.Watcher{Exists: true, Runs: true, Ready: true, StartedAt: eight.Add(-time.Hour), Lasts: 5 * time.Minute}
	idle := used
	idle.Ready, idle.UnreadySince = false, eight.Add(-time.Minute)
	messages := golden.NewMessages(t)
	for _, test := range []struct {
		name    string
		watcher lifecycle.Watcher
		phase   lifecycle.State
		alter   func(*v1alpha1.WorkspaceSpec)
		want    string
	}{
		{"used", used, lifecycle.Running, nil, "True/InUse"},
		{"idle", idle, lifecycle.Running, nil, "False/Idle"},
		{"idle, and never stopped", idle, lifecycle.Running, func(s *v1alpha1.WorkspaceSpec) { s.StandbyTTLSeconds = 0 }, "False/Idle"},
		{"used, with CPU", used, lifecycle.Running, func(s *v1alpha1.WorkspaceSpec) { s.Activity.CPUPercent = 5 }, "True/InUse"},
		{"idle, with CPU", idle, lifecycle.Running, func(s *v1alpha1.WorkspaceSpec) { s.Activity.CPUPercent, s.Ports = 5, []int32{80, 443} }, "False/Idle"},
		{"used, by an earlier spec", used, lifecycle.Running, func(s *v1alpha1.WorkspaceSpec) { s.Ports = nil }, "True/InUse"},
		{"no ports", lifecycle.Watcher{}, lifecycle.Running, func(s *v1alpha1.WorkspaceSpec) { s.Ports = nil }, "Unknown/NoActivitySource"},
		{"switched off", lifecycle.Watcher{}, lifecycle.Running, func(s *v1alpha1.WorkspaceSpec) { s.Activity.Connections = ptr.To(false) }, "Unknown/NoActivitySource"},
		{"nothing listens", lifecycle.Watcher{Exists: true, NothingListens: true, Runs: true, Ready: true}, lifecycle.Running, nil, "Unknown/NoActivitySource"},
		{"an earlier Pod", lifecycle.Watcher{}, lifecycle.Running, nil, "Unknown/NoActivitySource"},
		{"stopped", used, lifecycle.Standby, nil, "False/NotRunning"},
	} {
		facts := situation{before: status(test.phase, lifecycle.None), code: lifecycle.CodeConverged, ready: true, alter: func(ws *v1alpha1.Workspace) {
			ws.Spec.Ports, ws.Spec.StandbyTTLSeconds = []int32{8080}, 300
			if test.alter != nil {
				test.alter(&ws.Spec)
			}
		}}.facts()
		facts.Watcher = test.watcher
		written := facts.Status(eight)
		got := meta.FindStatusCondition(written.Conditions, v1alpha1.ConditionInUse)
		if string(got.Status)+"/"+got.Reason != test.want || flaw(strings.TrimSuffix(got.Message, ".")+".") != "" {
			t.Errorf("%s: %+v", test.name, got)
		}
		messages.Add(test.name, got.Message)
	}
}
