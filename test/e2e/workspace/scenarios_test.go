package workspace

import (
	"context"
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
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
)

const (
	running  = "RUNNING"
	standby  = "STANDBY"
	archived = "ARCHIVED"
)

// S1 (W34): a new Workspace gets a volume, then runs, with a home that its process writes; and goes with
// all that it had, when it is deleted.
func TestNewWorkspaceRuns(t *testing.T) {
	s := newStage(t)
	s.manager(nil)
	s.create("/bin/sh", "-c", "echo mine >/home/coder/file && exec sleep 100000")
	ws := s.settled(running)
	if volume := ws.Status.Volume; volume.Content != v1alpha1.ContentEmpty || volume.Epoch != 1 || ws.Status.ArchiveKey != "" {
		t.Errorf("the volume is %+v, the archive %q", volume, ws.Status.ArchiveKey)
	}
	s.eventually("the process's file", func() error {
		content, err := os.ReadFile(filepath.Join(s.home(), "file"))
		if err == nil && string(content) != "mine\n" {
			err = errors.New(string(content))
		}
		return err
	})
	folder := s.home()
	s.must(admin.Delete(t.Context(), ws))
	s.await("gone", func(ws *v1alpha1.Workspace) bool { return ws.UID == "" })
	s.gone(folder)
}

// gone waits until a folder is not there any more.
func (s *stage) gone(folder string) {
	s.Helper()
	s.eventually("the folder gone", func() error {
		if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s: %w", folder, err)
		}
		return nil
	})
}

// S4 and S2 (W37, W35): a home that nobody uses goes into the archive, and its volume away; it comes back
// as it was, every time that it is asked for. Nobody but the idle timers decides that it goes.
func TestHomeGoesAndComesBack(t *testing.T) {
	s := newStage(t)
	s.manager(nil)
	s.create("/bin/sleep", "100000")
	s.settled(running)
	fill(t, s.home())
	var keys []string
	for range 2 {
		folder := s.home()
		s.change(`{"standbyTTLSeconds":1}`)
		s.settled(standby)
		before := tree(t, folder)
		s.change(`{"archiveTTLSeconds":1}`)
		ws := s.settled(archived)
		if by := s.desiredBy(); by != "kyklos-ttl" {
			t.Errorf("%s asked for the archive, want the idle timer", by)
		}
		keys = append(keys, ws.Status.ArchiveKey)
		if ws.Status.Volume != nil && ws.Status.Volume.UID != "" {
			t.Errorf("it remembers the volume %+v", ws.Status.Volume)
		}
		s.gone(folder)
		s.change(`{"desiredState":"RUNNING","standbyTTLSeconds":0,"archiveTTLSeconds":0}`)
		s.settled(running)
		if got := differences(before, tree(t, s.home())); got != "" {
			t.Errorf("the home came back changed:\n%s", got)
		}
		if bytes := taken(t, filepath.Join(s.home(), "sparse")); bytes > sparseSize/2 {
			t.Errorf("the sparse file takes %d bytes of the disk now", bytes)
		}
		if err := os.WriteFile(filepath.Join(s.home(), "later"), []byte("work of another day"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if keys[0] == keys[1] || !strings.HasPrefix(keys[1], "archives/"+string(s.workspace().UID)+"/") {
		t.Errorf("the archives are %q; each is its own operation's", keys)
	}
	s.leavesNothing()
}

// leavesNothing checks that no mover and no ticket outlived its operation.
func (s *stage) leavesNothing() {
	s.Helper()
	var secrets corev1.SecretList
	s.must(admin.List(s.Context(), &secrets, client.InNamespace(s.namespace)))
	for _, secret := range secrets.Items {
		if secret.Name != "store" {
			s.Errorf("the Secret %s is left", secret.Name)
		}
	}
	var pods corev1.PodList
	s.must(admin.List(s.Context(), &pods, client.InNamespace(s.namespace)))
	if len(pods.Items) != 1 || pods.Items[0].Name != "ws-"+name {
		s.Errorf("%d pods are left, want the workspace's alone", len(pods.Items))
	}
}

// S3 (W36): the process is killed for its memory, or the Pod is gone; the Workspace runs again with the
// same home, and nobody asked for it.
func TestKilledWorkspaceRunsAgain(t *testing.T) {
	s := newStage(t)
	s.manager(nil)
	s.create("/bin/sleep", "100000")
	first := s.settled(running)
	fill(t, s.home())
	before, pod := tree(t, s.home()), s.pod()
	s.must(cluster.KillContainer(pod, "workspace"))
	s.eventually("its second life", func() error {
		status := s.pod().Status.ContainerStatuses
		if len(status) == 0 || status[0].RestartCount == 0 || !status[0].Ready {
			return errors.New("not yet")
		}
		if last := status[0].LastTerminationState.Terminated; last == nil || last.Reason != "OOMKilled" {
			t.Errorf("the container ended as %+v", last)
		}
		return nil
	})
	s.settled(running)
	s.must(admin.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	ws := s.await("running in another Pod", func(ws *v1alpha1.Workspace) bool {
		return isSettled(ws, running) && ws.Status.Volume.Epoch > first.Status.Volume.Epoch
	})
	if ws.Status.Volume.UID != first.Status.Volume.UID || s.pod().UID == pod.UID {
		t.Errorf("volume %s, Pod %s; want the same volume and another Pod", ws.Status.Volume.UID, s.pod().UID)
	}
	if got := differences(before, tree(t, s.home())); got != "" {
		t.Errorf("the home changed:\n%s", got)
	}
}

// S5 (W38): the manager dies right after it has claimed STARTING. The next one goes on with that claim.
func TestManagerDiesWithStartingClaimed(t *testing.T) {
	s := newStage(t)
	proxy, err := cluster.StartProxy()
	s.must(err)
	t.Cleanup(proxy.Close)
	first := s.manager(proxy)
	var once sync.Once
	var claim v1alpha1.Operation
	proxy.Inject(func(r harness.Request, answered bool) {
		if !answered || !r.Is(http.MethodPut, "/workspaces/"+name+"/status") {
			return
		}
		if ws := s.workspace(); ws.Status.Operation != nil && ws.Status.Operation.Type == v1alpha1.OperationStarting {
			once.Do(func() { claim = *ws.Status.Operation; _ = first.Kill() })
		}
	})
	s.create("/bin/sleep", "100000")
	select {
	case <-first.Done():
	case <-time.After(patience):
		t.Fatal("STARTING was never claimed")
	}
	proxy.Inject(nil)
	if ws := s.workspace(); claim.ID == "" || ws.Status.Phase != standby || ws.Status.Operation.ID != claim.ID {
		t.Fatalf("the dead manager left %s", harness.Show(ws.Status))
	}
	s.manager(nil)
	s.settled(running)
	if made := s.pod().Labels["kyklos.io/operation-id"]; made != claim.ID {
		t.Errorf("the Pod is of the claim %s, want %s", made, claim.ID)
	}
	if epoch := s.workspace().Status.Volume.Epoch; epoch != 1 {
		t.Errorf("%d starts, want 1", epoch)
	}
}

func (s *stage) eventually(what string, check func() error) {
	s.Helper()
	var last error
	if err := wait.PollUntilContextTimeout(s.Context(), 20*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	}); err != nil {
		s.Fatalf("%s: %v", what, last)
	}
}
