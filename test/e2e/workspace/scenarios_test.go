package workspace

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// W34: a new Workspace gets a volume and runs, and its process writes to the home. Its deletion deletes the volume
// too.
func TestNewWorkspaceRuns(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	s.Create("/bin/sh", "-c", "echo mine >/home/coder/file && exec sleep 100000")
	ws := s.AwaitSettled(fixtures.Running)
	if volume := ws.Status.Volume; volume.Content != v1alpha1.ContentEmpty || volume.Epoch != 1 || ws.Status.ArchiveKey != "" {
		t.Errorf("the volume is %+v, the archive %q", volume, ws.Status.ArchiveKey)
	}
	s.Eventually("the process's file", func() error {
		content, err := os.ReadFile(filepath.Join(s.Home(), "file"))
		if err == nil && string(content) != "mine\n" {
			err = errors.New(string(content))
		}
		return err
	})
	folder := s.Home()
	s.Must(s.Client.Delete(t.Context(), ws))
	s.Await("deleted", func(ws *v1alpha1.Workspace) bool { return ws.UID == "" })
	s.gone(folder)
}

// gone waits until a folder is deleted.
func (s *scenario) gone(folder string) {
	s.Helper()
	s.Eventually("the folder deleted", func() error {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("stat %s: %w", folder, err)
		}
		return nil
	})
}

// W37, W35: the idle timers archive an unused home and delete its volume. The restored home is identical, every
// time.
func TestArchiveAndRestore(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	s.Create("/bin/sleep", "100000")
	s.AwaitSettled(fixtures.Running)
	fixtures.FillHome(t, s.Home())
	s.Beat() // something tells whether it is used
	var keys []string
	for range 2 {
		folder := s.Home()
		s.Change(`{"standbyTTLSeconds":1}`)
		s.AwaitSettled(fixtures.Standby)
		before := fixtures.Tree(t, folder)
		s.Change(`{"archiveTTLSeconds":1}`)
		ws := s.AwaitSettled(fixtures.Archived)
		if by := s.DesiredStateOwner(); by != "kyklos-ttl" {
			t.Errorf("desiredState: got the field manager %s, want kyklos-ttl", by)
		}
		keys = append(keys, ws.Status.ArchiveKey)
		if ws.Status.Volume != nil && ws.Status.Volume.UID != "" {
			t.Errorf("got the volume %+v in the status, want none", ws.Status.Volume)
		}
		s.gone(folder)
		s.Change(`{"desiredState":"RUNNING","standbyTTLSeconds":0,"archiveTTLSeconds":0}`)
		s.AwaitSettled(fixtures.Running)
		if got := fixtures.TreeDifferences(before, fixtures.Tree(t, s.Home())); got != "" {
			t.Errorf("the restored home differs:\n%s", got)
		}
		if bytes := fixtures.DiskUsage(t, filepath.Join(s.Home(), "sparse")); bytes > fixtures.SparseSize/2 {
			t.Errorf("the restored sparse file takes %d bytes of the disk", bytes)
		}
		harness.Must(t, os.WriteFile(filepath.Join(s.Home(), "later"), []byte("work of another day"), 0o600))
	}
	if keys[0] == keys[1] || !strings.HasPrefix(keys[1], "archives/"+string(s.Workspace().UID)+"/") {
		t.Errorf("got the archives %q, want one for each operation", keys)
	}
	s.checkLeftovers()
}

// checkLeftovers checks that no mover and no ticket is left.
func (s *scenario) checkLeftovers() {
	s.Helper()
	var secrets corev1.SecretList
	s.Must(s.Client.List(s.Context(), &secrets, client.InNamespace(s.Namespace)))
	for _, secret := range secrets.Items {
		if secret.Name != "store" {
			s.Errorf("got the Secret %s, want none but store", secret.Name)
		}
	}
	var pods corev1.PodList
	s.Must(s.Client.List(s.Context(), &pods, client.InNamespace(s.Namespace)))
	if len(pods.Items) != 1 || pods.Items[0].Name != "ws-"+fixtures.WorkspaceName {
		s.Errorf("got %d pods, want the workspace's alone", len(pods.Items))
	}
}

// W36: the process is killed for its memory, or the Pod is deleted. The Workspace runs again with the same home,
// without a change of its spec.
func TestKilledWorkspaceRunsAgain(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	s.Create("/bin/sleep", "100000")
	first := s.AwaitSettled(fixtures.Running)
	fixtures.FillHome(t, s.Home())
	before, pod := fixtures.Tree(t, s.Home()), s.Pod()
	s.Must(s.Cluster.KillContainer(pod, "workspace"))
	s.Eventually("the restarted container", func() error {
		status := s.Pod().Status.ContainerStatuses
		if len(status) == 0 || status[0].RestartCount == 0 || !status[0].Ready {
			return fmt.Errorf("the container statuses are %+v", status)
		}
		if last := status[0].LastTerminationState.Terminated; last == nil || last.Reason != "OOMKilled" {
			t.Errorf("last termination: got %+v, want OOMKilled", last)
		}
		return nil
	})
	s.AwaitSettled(fixtures.Running)
	s.Must(s.Client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	ws := s.Await("running in another Pod", func(ws *v1alpha1.Workspace) bool {
		return fixtures.IsSettled(ws, fixtures.Running) && ws.Status.Volume.Epoch > first.Status.Volume.Epoch
	})
	if ws.Status.Volume.UID != first.Status.Volume.UID || s.Pod().UID == pod.UID {
		t.Errorf("got volume %s and Pod %s, want the same volume and another Pod", ws.Status.Volume.UID, s.Pod().UID)
	}
	if got := fixtures.TreeDifferences(before, fixtures.Tree(t, s.Home())); got != "" {
		t.Errorf("the home changed:\n%s", got)
	}
}

// W38: the manager dies right after it has recorded the operation STARTING. The next one continues that operation.
func TestManagerDiesAfterRecordingStarting(t *testing.T) {
	s := newScenario(t)
	proxy := s.StartProxy()
	first := s.Start(proxy)
	var once sync.Once
	var recorded v1alpha1.Operation
	proxy.Inject(func(r harness.Request, answered bool) {
		if !answered || !r.Is(http.MethodPut, "/workspaces/"+fixtures.WorkspaceName+"/status") {
			return
		}
		if ws := s.Workspace(); ws.Status.Operation != nil && ws.Status.Operation.Type == v1alpha1.OperationStarting {
			once.Do(func() { recorded = *ws.Status.Operation; _ = first.Kill() })
		}
	})
	s.Create("/bin/sleep", "100000")
	select {
	case <-first.Done():
	case <-time.After(harness.Patience):
		t.Fatal("STARTING was never recorded")
	}
	proxy.Inject(nil)
	if ws := s.Workspace(); recorded.ID == "" || ws.Status.Phase != fixtures.Standby || ws.Status.Operation.ID != recorded.ID {
		t.Fatalf("the killed manager left %s", harness.Show(ws.Status))
	}
	s.Start(nil)
	s.AwaitSettled(fixtures.Running)
	if made := s.Pod().Labels["kyklos.io/operation-id"]; made != recorded.ID {
		t.Errorf("the Pod's operation: got %s, want %s", made, recorded.ID)
	}
	if epoch := s.Workspace().Status.Volume.Epoch; epoch != 1 {
		t.Errorf("got %d starts, want 1", epoch)
	}
}
