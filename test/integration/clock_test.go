package integration

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
	"kyklos.io/kyklos/test/controlplane"
)

// clockedHome is a home in STANDBY whose time runs out after a week. Its volume waits for a Pod.
const clockedHome = `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: late}, provisioner: nobody, volumeBindingMode: WaitForFirstConsumer}
---
{apiVersion: kyklos.io/v1alpha1, kind: Workspace, metadata: {name: home, namespace: %s},
  spec: {desiredState: STANDBY, image: busybox, storage: {storageClassName: late, size: 1Gi}, archiveTTLSeconds: 604800, archive: {storeRef: {name: store}}}}`

// The manager's clock is put a day forward, back, over the end of daylight saving time, and back again: each time the
// target has the count of that time, and nothing becomes of a home that has the week, nor of an archive, also
// not at the hands of a manager that starts with its clock a day ahead.
func TestTheClockIsSet(t *testing.T) {
	s := newStage(t)
	s.clock("2026-10-23 07:30:00") // a Friday, 09:30 in Berlin
	s.pair("web", 3, "09:00", "17:00")
	s.patch(&v1beta1.TimeWindowScaler{ObjectMeta: s.named("web")}, `{"spec":{"timezone":"Europe/Berlin"}}`)
	folder := t.TempDir()
	store, orphan := filestore.New(folder), archive.Key{UID: "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11", OpID: "f47ac10b-58cc-4372-a567-0e02b2c3d479"}
	s.must(store.Put(t.Context(), orphan.Data(), []byte("data")))
	s.must(admin.Create(t.Context(), &corev1.Secret{ObjectMeta: s.named("store"), StringData: map[string]string{"folder": folder}}))
	s.must(cluster.Apply(t.Context(), fmt.Sprintf(clockedHome, s.namespace)))
	m := s.manager(nil, "--archive-folders", "--leader-elect=false")
	s.awaitSettled(1, 3)
	s.eventually("the home in STANDBY", func() bool { return s.home().Status.DisplayState == "STANDBY" })
	for _, step := range []struct {
		clock    string
		replicas int32
	}{
		{"2026-10-24 07:30:00", 0}, {"2026-10-23 07:30:00", 3}, {"2026-10-26 07:30:00", 0}, {"2026-10-26 08:30:00", 3}, {"2026-10-23 06:30:00", 0},
	} {
		s.clock(step.clock)
		s.awaitSettled(1, step.replicas)
		s.staysAtHome(m)
	}
	s.must(m.Stop())
	before := s.lookedAt()
	s.clock("2026-10-24 07:30:00")
	m = s.manager(nil, "--archive-folders", "--leader-elect=false")
	s.eventually("another look for archives", func() bool { return s.lookedAt() != before })
	s.staysAtHome(m)
	if _, err := store.Head(t.Context(), orphan.Data()); err != nil {
		t.Errorf("an archive is gone that two looks have found: %v", err)
	}
	s.leavesNothing()
	s.must(m.Stop())
}

// leavesNothing takes away what later tests' managers would look after.
func (s *stage) leavesNothing() {
	s.Helper()
	home := &v1alpha1.Workspace{ObjectMeta: s.named("home")}
	s.must(admin.Delete(s.Context(), home))
	s.eventually("the home gone", func() bool {
		return apierrors.IsNotFound(admin.Get(s.Context(), client.ObjectKeyFromObject(home), home))
	})
	book := &corev1.ConfigMap{ObjectMeta: s.named(archivegc.LedgerName)}
	book.Namespace = controlplane.SystemNamespace
	s.must(admin.Delete(s.Context(), book))
}

func (s *stage) home() *v1alpha1.Workspace {
	s.Helper()
	ws := &v1alpha1.Workspace{}
	s.must(admin.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: "home"}, ws))
	return ws
}

// lookedAt is what is remembered of the last look for archives.
func (s *stage) lookedAt() string {
	s.Helper()
	var book corev1.ConfigMap
	s.must(client.IgnoreNotFound(admin.Get(s.Context(), client.ObjectKey{Namespace: controlplane.SystemNamespace, Name: archivegc.LedgerName}, &book)))
	return fmt.Sprint(book.Data)
}

// staysAtHome has the home looked at, by all who may do something about it, and finds it as it was.
func (s *stage) staysAtHome(m *controlplane.Manager) {
	s.Helper()
	looks := func() [2]float64 {
		const passes = `controller_runtime_reconcile_total{controller="%s",result="requeue_after"}`
		return [2]float64{s.sum(m, fmt.Sprintf(passes, "workspace")), s.sum(m, fmt.Sprintf(passes, "workspaceidle"))}
	}
	before := looks()
	s.patch(&v1alpha1.Workspace{ObjectMeta: s.named("home")}, fmt.Sprintf(`{"metadata":{"annotations":{"looks":"%v"}}}`, before))
	s.eventually("looks at the home", func() bool { now := looks(); return now[0] > before[0] && now[1] > before[1] })
	if ws := s.home(); ws.Generation != 1 || ws.Status.DisplayState != "STANDBY" || ws.Status.Error != nil {
		s.Errorf("the home is asked for in %s, and is in %s: %+v", ws.Spec.DesiredState, ws.Status.DisplayState, ws.Status.Error)
	}
}
