package workspace

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// Pods have the network of this machine here: the test itself listens on the Workspace's port, and is its user.

// listens listens on a port of a Workspace.
func (s *scenario) listens() net.Listener {
	s.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	s.Must(err)
	s.Cleanup(func() { listener.Close() })
	return listener
}

// connects is a user who connects to the port.
func (s *scenario) connects(listener net.Listener) (leave func()) {
	s.Helper()
	user, err := net.Dial("tcp4", listener.Addr().String())
	s.Must(err)
	server, err := listener.Accept()
	s.Must(err)
	leave = func() { user.Close(); server.Close() }
	s.Cleanup(leave)
	return leave
}

// useful starts a Workspace that is idle after twenty seconds, and connects to its port.
func (s *scenario) useful() (leave func()) {
	s.Helper()
	listener := s.listens()
	leave = s.connects(listener)
	s.watched(listener)
	return leave
}

// watched starts a Workspace that is idle after twenty seconds.
func (s *scenario) watched(listener net.Listener) {
	s.Helper()
	ws := s.NewWorkspace(fixtures.WorkspaceName, "/bin/sleep", "100000")
	ws.Spec.Ports, ws.Spec.Activity = []int32{int32(listener.Addr().(*net.TCPAddr).Port)}, v1alpha1.WorkspaceActivity{}
	ws.Spec.StandbyTTLSeconds = 20
	s.Must(s.Client.Create(s.Context(), ws))
	s.AwaitSettled(fixtures.Running)
	s.awaitWatcher(true)
}

// awaitWatcher waits until the watcher is ready, or is not. It returns since when the Pod is as it is.
func (s *scenario) awaitWatcher(ready bool) (since time.Time) {
	s.Helper()
	s.Until(fmt.Sprintf("the watcher ready: %v", ready), func() bool {
		status := s.Pod().Status
		for _, c := range status.Conditions {
			if c.Type == corev1.ContainersReady {
				since = c.LastTransitionTime.Time
			}
		}
		all := status.InitContainerStatuses
		return len(all) == 1 && all[0].Name == "kyklos-activity" && all[0].Ready == ready
	})
	return since
}

// awaitUse waits until the condition InUse has the reason.
func (s *scenario) awaitUse(reason string) *v1alpha1.Workspace {
	s.Helper()
	return s.Await("with InUse: "+reason, func(ws *v1alpha1.Workspace) bool {
		c := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionInUse)
		return c != nil && c.Reason == reason
	})
}

// awaitEvent waits for an event on the Workspace.
func (s *scenario) awaitEvent(reason, note string) {
	s.Helper()
	s.Until("the event "+reason+" with "+note, func() bool {
		stdout, _ := s.Kubectl("", "get", "events.events.k8s.io", "-n", s.Namespace, "-o",
			`jsonpath={range .items[?(@.regarding.kind=="Workspace")]}{.reason}: {.note}{"\n"}{end}`)
		for line := range strings.Lines(stdout) {
			if strings.HasPrefix(line, reason+": ") && strings.Contains(line, note) {
				return true
			}
		}
		return false
	})
}

// W80: somebody who is connected keeps a Workspace running, however long. When he has left, it is idle and is stopped. Nobody
// sent a heartbeat.
func TestAConnectionKeepsAWorkspaceRunning(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	leave := s.useful()
	running := s.awaitUse(v1alpha1.ReasonInUse)
	s.Until("twice the idle time", func() bool { return time.Since(running.Status.RunningSince.Time) > 45*time.Second })
	if ws := s.awaitUse(v1alpha1.ReasonInUse); !fixtures.IsSettled(ws, fixtures.Running) || !ws.Status.RunningSince.Equal(running.Status.RunningSince) {
		t.Errorf("it was stopped in use: %+v", ws.Status)
	}
	left := time.Now().Add(-time.Second)
	leave()
	ws := s.AwaitSettled(fixtures.Standby)
	if by := s.DesiredStateOwner(); by != "kyklos-ttl" {
		t.Errorf("%s stopped it", by)
	}
	// A use that ends within two minutes of the start is not told from the start itself.
	if last := ws.Status.LastActivityTime; last != nil && last.Time.Before(left.Truncate(time.Second).Add(-20*time.Second)) {
		t.Errorf("last used at %v, and left at %v", last, left)
	}
	s.awaitEvent("WorkspaceIdle", "Not used since")
	s.awaitUse(v1alpha1.ReasonNotRunning)
}

// W81: where nothing tells, because nothing is watched or nothing listens, a Workspace is not stopped, and says why.
func TestAWorkspaceWithoutASourceOfActivity(t *testing.T) {
	for why, watched := range map[string]bool{"spec.activity.connections is false": false, "nothing listens on port": true} {
		t.Run(why, func(t *testing.T) {
			s := newScenario(t)
			s.Start(nil)
			ws := s.NewWorkspace(fixtures.WorkspaceName, "/bin/sleep", "100000")
			ws.Spec.StandbyTTLSeconds = 5
			if watched {
				listener, err := net.Listen("tcp4", "127.0.0.1:0")
				s.Must(err)
				ws.Spec.Ports, ws.Spec.Activity = []int32{int32(listener.Addr().(*net.TCPAddr).Port)}, v1alpha1.WorkspaceActivity{}
				s.Must(listener.Close())
			}
			s.Must(s.Client.Create(t.Context(), ws))
			running := s.AwaitSettled(fixtures.Running)
			s.awaitUse(v1alpha1.ReasonNoActivitySource)
			s.Until("some times the idle time", func() bool { return time.Since(running.Status.RunningSince.Time) > 20*time.Second })
			ws = s.awaitUse(v1alpha1.ReasonNoActivitySource)
			message := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionInUse).Message
			if !fixtures.IsSettled(ws, fixtures.Running) || !ws.Status.RunningSince.Equal(running.Status.RunningSince) || !strings.Contains(message, why) {
				t.Errorf("%s: %s", ws.Status.DisplayState, message)
			}
		})
	}
}

// closed is a schedule whose window is not today.
func (s *scenario) closed() *v1beta1.TimeWindowScaler {
	s.Helper()
	day := time.Now().UTC().AddDate(0, 0, 3).Format("Mon")
	s.Kubectl(fmt.Sprintf(`{apiVersion: kyklos.io/v1beta1, kind: TimeWindowScaler, metadata: {name: hours}, spec: {timezone: UTC, defaultReplicas: 0,
  targetRef: {apiVersion: kyklos.io/v1alpha1, kind: Workspace, name: %s}, windows: [{days: [%s], start: "09:00", end: "17:00", replicas: 1}]}}`, fixtures.WorkspaceName, day),
		"create", "-n", s.Namespace, "-f", "-")
	tws := &v1beta1.TimeWindowScaler{}
	s.Until("the stop that waits", func() bool {
		s.Get(s.Namespace, "hours", tws)
		ready := meta.FindStatusCondition(tws.Status.Conditions, v1beta1.ConditionReady)
		return ready != nil && ready.Status == metav1.ConditionTrue && ready.Reason == v1beta1.ReasonTargetInUse
	})
	if ws := s.Workspace(); ws.Spec.DesiredState != v1alpha1.DesiredRunning {
		s.Errorf("it is stopped in use")
	}
	s.awaitEvent("StopWaits", "TimeWindowScaler hours")
	return tws
}

// W82, W83: outside its window, a schedule stops a Workspace in use when nobody uses it any more.
func TestAScheduledStopWaits(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	leave := s.useful()
	s.Change(`{"standbyTTLSeconds":0}`) // nothing but the schedule stops it
	s.closed()
	leave()
	s.AwaitSettled(fixtures.Standby)
	if by := s.DesiredStateOwner(); by != "kyklos-schedule" {
		t.Errorf("%s stopped it", by)
	}
	s.awaitEvent("SetBySchedule", "TimeWindowScaler hours set spec.desiredState from RUNNING to STANDBY")
}

// W82: strict hours.
func TestAScheduledStopDoesNotWait(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	s.useful()
	s.Change(`{"standbyTTLSeconds":0}`)
	s.Patch(s.closed(), `{"spec":{"workspace":{"stopWhileInUse":true}}}`)
	s.AwaitSettled(fixtures.Standby)
	if by := s.DesiredStateOwner(); by != "kyklos-schedule" {
		t.Errorf("%s stopped it", by)
	}
}
