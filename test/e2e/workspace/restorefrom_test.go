package workspace

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// The same YAML applied again continues with the home, and says so. A clone, and one of an older copy, begin with an archive by its
// key. One of another namespace is refused, and no archive changes (W67, W68, W70).
func TestRestoreByName(t *testing.T) {
	s := newScenario(t)
	s.Start(nil)
	s.apply(fixtures.WorkspaceName, "")
	older := s.archive("one")
	latest := s.archive("two")
	s.lists(older)
	s.lists(latest)
	s.Must(s.Client.Delete(s.Context(), s.Workspace()))
	s.Await("deleted", func(ws *v1alpha1.Workspace) bool { return ws.UID == "" })

	s.lists(latest, "--store", "store")

	s.apply(fixtures.WorkspaceName, "")
	ws := s.AwaitSettled(fixtures.Standby)
	s.holds(ws, "two", latest)
	s.Eventually("an event that names the archive", func() error {
		var list corev1.EventList
		s.Must(s.Client.List(s.Context(), &list))
		for i := range list.Items {
			if each := &list.Items[i]; each.InvolvedObject.UID == ws.UID && each.Reason == v1alpha1.ReasonArchiveFound && strings.Contains(each.Message, latest) {
				return nil
			}
		}
		return os.ErrNotExist
	})
	s.Await("a condition that names the archive", func(ws *v1alpha1.Workspace) bool {
		ready := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionVolumeReady)
		return ready != nil && strings.Contains(ready.Message, latest)
	})

	s.apply("twin", latest)
	s.holds(s.settled("twin"), "two", latest)
	s.apply("elder", older)
	s.holds(s.settled("elder"), "one", older)
	for _, key := range []string{older, latest} {
		if _, err := os.Stat(filepath.Join(store.Folder, filepath.FromSlash(key))); err != nil {
			t.Error(err)
		}
	}
	s.refuses(latest)
}

// lists checks that the command lists an archive, by the Workspace or after its deletion by the Secret.
func (s *scenario) lists(key string, more ...string) {
	s.Helper()
	kyklos, err := harness.Binary("kyklos")
	s.Must(err)
	args := []string{"workspace", "archives", fixtures.WorkspaceName, "-n", s.Namespace, "--kubeconfig", s.Cluster.Kubeconfig}
	out, err := exec.CommandContext(s.Context(), kyklos, append(args, more...)...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), key) {
		s.Errorf("%v\n%s\nwant %s", err, out, key)
	}
}

// refuses checks that a Workspace of another namespace gets no home from the archive, although its store's Secret could read it.
func (s *scenario) refuses(key string) {
	s.Helper()
	mine := s.Namespace
	defer func() { s.Namespace = mine }()
	var secret corev1.Secret
	s.Get(mine, "store", &secret)
	s.Namespace = s.NewNamespace("thief-")
	secret.ObjectMeta = metav1.ObjectMeta{Namespace: s.Namespace, Name: secret.Name}
	s.Must(s.Client.Create(s.Context(), &secret))
	s.Start(nil)
	s.apply(fixtures.WorkspaceName, key)
	ws := s.Await("refused", func(ws *v1alpha1.Workspace) bool {
		ready := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionReady)
		return ready != nil && ready.Reason == v1alpha1.ReasonArchiveForeign
	})
	var claims corev1.PersistentVolumeClaimList
	s.Must(s.Client.List(s.Context(), &claims))
	for i := range claims.Items {
		if claims.Items[i].Namespace == s.Namespace || ws.Status.ArchiveKey != "" {
			s.Errorf("it began with %q: %+v", ws.Status.ArchiveKey, claims.Items[i].ObjectMeta)
		}
	}
}

// apply creates a Workspace in STANDBY, as the same YAML does each time.
func (s *scenario) apply(name, from string) {
	s.Helper()
	ws := s.NewWorkspace(name, "true")
	ws.Spec.DesiredState, ws.Spec.DeletionPolicy, ws.Spec.RestoreFrom = v1alpha1.DesiredStandby, v1alpha1.DeletionArchive, from
	ws.Spec.Archive.Retain = 3
	s.Must(s.Client.Create(s.Context(), ws))
}

// archive writes a file into the home, archives it and returns the archive's key.
func (s *scenario) archive(text string) string {
	s.Helper()
	s.Change(`{"desiredState":"STANDBY"}`)
	s.AwaitSettled(fixtures.Standby)
	s.Must(os.MkdirAll(s.Home(), 0o755))
	s.Must(os.WriteFile(filepath.Join(s.Home(), "work"), []byte(text), 0o644))
	s.Change(`{"desiredState":"PENDING"}`)
	return s.AwaitSettled(fixtures.Archived).Status.ArchiveKey
}

// settled waits until a Workspace has its home on a volume.
func (s *scenario) settled(name string) *v1alpha1.Workspace {
	s.Helper()
	var ws v1alpha1.Workspace
	s.Until(name+" in STANDBY", func() bool {
		s.Get(s.Namespace, name, &ws)
		return fixtures.IsSettled(&ws, fixtures.Standby)
	})
	return &ws
}

// holds checks what a Workspace's home holds, and where that is from.
func (s *scenario) holds(ws *v1alpha1.Workspace, text, key string) {
	s.Helper()
	got, err := os.ReadFile(filepath.Join(s.HomeOn(ws.Status.Volume.UID), "work"))
	if err != nil || string(got) != text || ws.Status.Volume.RestoredFrom != key {
		s.Errorf("%s holds %q (%v) from %s, want %q from %s", ws.Name, got, err, ws.Status.Volume.RestoredFrom, text, key)
	}
}
