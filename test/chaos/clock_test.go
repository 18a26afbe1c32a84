package chaos

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/apis/v1beta1"
	"kyklos.io/kyklos/controller/archivegc"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/test/harness"
)

// clockedHome is a Workspace in STANDBY that is archived after a week. Its volume waits for a Pod.
const clockedHome = `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: late}, provisioner: nobody, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: home, namespace: %s},
  spec: {desiredState: STANDBY, image: busybox, storage: {storageClassName: late, size: 1Gi}, archiveTTLSeconds: 604800, archive: {storeRef: {name: store}}}}`

// The manager's clock steps a day forward, back, over the end of daylight saving time, and back again. Each time the
// target gets the replicas of that time. Neither the idle home nor an orphaned archive is touched, not even by a manager
// that starts with its clock a day ahead.
func TestClockSteps(t *testing.T) {
	s := newScenario(t)
	s.SetClock("2026-10-23 07:30:00") // a Friday, 09:30 in Berlin
	s.CreatePair("web", 3, "09:00", "17:00")
	s.Patch(&v1beta1.TimeWindowScaler{ObjectMeta: s.Named("web")}, `{"spec":{"timezone":"Europe/Berlin"}}`)
	folder := t.TempDir()
	store, orphan := filestore.New(folder), archive.Key{UID: "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11", OpID: "f47ac10b-58cc-4372-a567-0e02b2c3d479"}
	s.Must(store.Put(t.Context(), orphan.Data(), []byte("data")))
	s.Must(s.Client.Create(t.Context(), &corev1.Secret{ObjectMeta: s.Named("store"), StringData: map[string]string{"folder": folder}}))
	s.Must(s.Cluster.Apply(t.Context(), fmt.Sprintf(clockedHome, s.Namespace)))
	m := s.Start(nil, "--archive-folders", "--leader-elect=false")
	s.AwaitSettled(1, 3)
	s.Until("the home in STANDBY", func() bool { return s.home().Status.DisplayState == "STANDBY" })
	for _, step := range []struct {
		clock    string
		replicas int32
	}{
		{"2026-10-24 07:30:00", 0}, {"2026-10-23 07:30:00", 3}, {"2026-10-26 07:30:00", 0}, {"2026-10-26 08:30:00", 3}, {"2026-10-23 06:30:00", 0},
	} {
		s.SetClock(step.clock)
		s.AwaitSettled(1, step.replicas)
		s.homeUnchanged(m)
	}
	s.Must(m.Stop())
	before := s.collected()
	s.SetClock("2026-10-24 07:30:00")
	m = s.Start(nil, "--archive-folders", "--leader-elect=false")
	s.Until("another garbage collection", func() bool { return s.collected() != before })
	s.homeUnchanged(m)
	if _, err := store.Head(t.Context(), orphan.Data()); err != nil {
		t.Errorf("the orphaned archive is gone after two collections: %v", err)
	}
	s.cleanUp()
	s.Must(m.Stop())
}

// cleanUp deletes what the managers of later tests would work on.
func (s *scenario) cleanUp() {
	s.Helper()
	home := &v1alpha1.Workspace{ObjectMeta: s.Named("home")}
	s.Must(s.Client.Delete(s.Context(), home))
	s.Until("the home gone", func() bool {
		return apierrors.IsNotFound(s.Client.Get(s.Context(), client.ObjectKeyFromObject(home), home))
	})
	book := &corev1.ConfigMap{ObjectMeta: s.Named(archivegc.LedgerName)}
	book.Namespace = harness.SystemNamespace
	s.Must(s.Client.Delete(s.Context(), book))
}

func (s *scenario) home() *v1alpha1.Workspace {
	s.Helper()
	ws := &v1alpha1.Workspace{}
	s.Get(s.Namespace, "home", ws)
	return ws
}

// collected returns the record of the last garbage collection.
func (s *scenario) collected() string {
	s.Helper()
	var book corev1.ConfigMap
	s.Must(client.IgnoreNotFound(s.Client.Get(s.Context(), client.ObjectKey{Namespace: harness.SystemNamespace, Name: archivegc.LedgerName}, &book)))
	return fmt.Sprint(book.Data)
}

// homeUnchanged makes the controllers reconcile the home, and checks that they change nothing.
func (s *scenario) homeUnchanged(m *harness.Manager) {
	s.Helper()
	passes := func() [2]float64 {
		const metric = `controller_runtime_reconcile_total{controller="%s",result="requeue_after"}`
		return [2]float64{s.Sum(m, fmt.Sprintf(metric, "workspace")), s.Sum(m, fmt.Sprintf(metric, "workspaceidle"))}
	}
	before := passes()
	s.Patch(&v1alpha1.Workspace{ObjectMeta: s.Named("home")}, fmt.Sprintf(`{"metadata":{"annotations":{"test/passes":"%v"}}}`, before))
	s.Until("passes over the home", func() bool { now := passes(); return now[0] > before[0] && now[1] > before[1] })
	if ws := s.home(); ws.Generation != 1 || ws.Status.DisplayState != "STANDBY" || ws.Status.Error != nil {
		s.Errorf("the home: got desired state %s, state %s, error %+v; want STANDBY and no error", ws.Spec.DesiredState, ws.Status.DisplayState, ws.Status.Error)
	}
}
