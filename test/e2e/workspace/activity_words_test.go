package workspace

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// awaitMessage waits until the condition InUse says something.
func (s *scenario) awaitMessage(part string) (message string) {
	s.Helper()
	s.Await("with InUse that says "+part, func(ws *v1alpha1.Workspace) bool {
		c := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionInUse)
		if c != nil {
			message = c.Message
		}
		return strings.Contains(message, part)
	})
	return message
}

// outlasts waits until twice the idle time has passed, and expects that the Workspace was not stopped.
func (s *scenario) outlasts(since time.Time, running *metav1.Time) {
	s.Helper()
	s.Until("twice the idle time", func() bool { return time.Since(since) > 45*time.Second })
	if ws := s.Workspace(); !fixtures.IsSettled(ws, fixtures.Running) || !ws.Status.RunningSince.Equal(running) {
		s.Errorf("it was stopped: %+v", ws.Status)
	}
}

// W103: what is set on a running Workspace is not said to count, and what counted before does not stop it. The Service stays at the
// port of the Pod.
func TestSettingsOfTheNextStart(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	leave := s.useful()
	running := s.awaitUse(v1alpha1.ReasonInUse).Status
	s.Change(`{"activity":{"cpuPercent":5},"ports":[18477]}`)
	if message := s.awaitMessage("has changed since the Pod was started"); strings.Contains(message, "CPU") || strings.Contains(message, "18477") {
		t.Error(message)
	}
	s.AwaitSettled(fixtures.Running)
	if got := s.Workspace().Status.Address; got != running.Address {
		t.Errorf("its address is %s, and was %s", got, running.Address)
	}
	leave()
	s.awaitUse(v1alpha1.ReasonNoActivitySource)
	s.awaitMessage("something else counts")
	s.outlasts(time.Now(), running.RunningSince)
	s.Change(`{"desiredState":"STANDBY"}`)
	s.AwaitSettled(fixtures.Standby)
	s.Await("with the new address", func(ws *v1alpha1.Workspace) bool { return strings.HasSuffix(ws.Status.Address, ":18477") })
}

// slowable starts a manager whose watchers do not answer the kubelet while a file exists, and returns its path.
func (s *scenario) slowable() (file string) {
	s.Helper()
	kyklos, err := harness.Binary("kyklos")
	s.Must(err)
	folder := s.TempDir()
	file = filepath.Join(folder, "slow")
	image := filepath.Join(folder, "kyklos")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1 $2\" = 'activity check' ] && [ -e %s ] && exit 1\nexec %s \"$@\"\n", file, kyklos)
	s.Must(os.WriteFile(image, []byte(script), 0o755))
	m := s.StartManager(harness.ManagerOptions{Args: append(s.ManagerArgs(), "--mover-image="+harness.HostImage(image))})
	s.AwaitReady(m)
	return file
}

// W104: a node that is too slow for probes stops nobody, neither before nor after the Workspace was idle. It is idle when its watcher
// says so, and in use when somebody returns.
func TestASlowNodeIsNotIdle(t *testing.T) {
	s := newScenario(t)
	slow := s.slowable()
	listener := s.listens()
	leave := s.connects(listener)
	s.watched(listener)
	running := s.awaitUse(v1alpha1.ReasonInUse).Status
	s.Must(os.WriteFile(slow, nil, 0o600))
	s.outlasts(s.awaitWatcher(false), running.RunningSince)
	s.awaitUse(v1alpha1.ReasonInUse)
	s.Must(os.Remove(slow))
	s.awaitWatcher(true)

	s.Change(`{"standbyTTLSeconds":0}`)
	left := time.Now().Truncate(time.Second)
	leave()
	ws := s.awaitUse(v1alpha1.ReasonIdle)
	if last := ws.Status.LastActivityTime; last == nil || last.Time.Before(left.Add(-2*time.Second)) || last.After(left.Add(time.Minute)) {
		t.Errorf("last used at %v, and left at %v", last, left)
	}
	if said := s.Pod().Status.InitContainerStatuses[0].LastTerminationState.Terminated; said == nil || said.ExitCode != 0 || !strings.HasPrefix(said.Message, "idle: last used ") {
		t.Errorf("the watcher said %+v", said)
	}
	s.connects(listener)
	s.awaitUse(v1alpha1.ReasonInUse)
	s.Change(`{"standbyTTLSeconds":20}`)
	s.Must(os.WriteFile(slow, nil, 0o600))
	s.outlasts(s.awaitWatcher(false), running.RunningSince)
	s.awaitUse(v1alpha1.ReasonInUse)
}

// W106: a request after the other, each of them a connection of its own, keeps a Workspace running.
func TestRequestsInARowKeepAWorkspaceRunning(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	listener := s.listens()
	go func() {
		for {
			server, err := listener.Accept()
			if err != nil {
				return
			}
			server.Close() // as HTTP/1.0 does
		}
	}()
	s.watched(listener)
	running := s.awaitUse(v1alpha1.ReasonInUse).Status
	s.Until("twice the idle time in requests", func() bool {
		client, err := net.Dial("tcp4", listener.Addr().String())
		s.Must(err)
		_, _ = client.Read(make([]byte, 1))
		client.Close()
		return time.Since(running.RunningSince.Time) > 45*time.Second
	})
	if ws := s.awaitUse(v1alpha1.ReasonInUse); !fixtures.IsSettled(ws, fixtures.Running) || !ws.Status.RunningSince.Equal(running.RunningSince) {
		t.Errorf("it was stopped in use: %+v", ws.Status)
	}
	s.AwaitSettled(fixtures.Standby)
	s.awaitEvent("WorkspaceIdle", "Not used since")
}

// W105: a LimitRange that the sidecar does not fit is met by the manager's flags, which the message names.
func TestALimitRangeForTheWatcher(t *testing.T) {
	s := newScenario(t)
	s.Must(s.Client.Create(t.Context(), &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "least"},
		Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
			Type: corev1.LimitTypeContainer, Min: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")},
			MaxLimitRequestRatio: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10")},
		}}},
	}))
	m := s.Start(nil)
	ws := s.NewWorkspace(fixtures.WorkspaceName, "/bin/sleep", "100000")
	ws.Spec.Ports, ws.Spec.Activity = []int32{8080}, v1alpha1.WorkspaceActivity{}
	s.Must(s.Client.Create(t.Context(), ws))
	refused := s.Await("refused", func(ws *v1alpha1.Workspace) bool { return ws.Status.Error != nil })
	for _, part := range []string{"request is 5m", "container kyklos-activity", "--activity-requests and --activity-limits"} {
		if !strings.Contains(refused.Status.Error.Message, part) {
			t.Errorf("%q is not in %s", part, refused.Status.Error.Message)
		}
	}
	s.Must(m.Stop())
	kyklos, err := harness.Binary("kyklos")
	s.Must(err)
	s.AwaitReady(s.StartManager(harness.ManagerOptions{Args: append(s.ManagerArgs(), "--mover-image="+harness.HostImage(kyklos),
		"--activity-requests=cpu=20m,memory=32Mi", "--activity-limits=cpu=200m,memory=128Mi")}))
	s.Change(`{"standbyTTLSeconds":3600}`) // begins the next attempt
	s.AwaitSettled(fixtures.Running)
	s.awaitWatcher(true)
}
