package archivegc

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive"
)

// W48: an archive that is not needed is deleted after two uninterrupted hours, and nothing else.
func TestOrphansGoAfterTwoHours(t *testing.T) {
	s := newStage(t, folder(t)).withLedger()
	ann := s.workspace("ann")
	old, needed, gone, kept := s.archive(ann.UID), s.archive(ann.UID), s.orphans(1)[0], s.orphans(1)[0]
	s.must(archive.Keep(t.Context(), s.store, kept, "team", "ann"))
	s.must(s.store.Put(t.Context(), "archives/readme.txt", []byte("not of our making")))
	s.status(ann, func(status *v1alpha1.WorkspaceStatus) { status.ArchiveKey = needed.Data() })
	before := s.stored()
	for _, after := range []time.Duration{0, time.Hour, time.Hour - time.Millisecond} {
		if reasons := s.cycle(after); !slices.Equal(s.stored(), before) || reasons != nil {
			t.Fatalf("too early: %v, %v", s.stored(), reasons)
		}
	}
	reasons := s.cycle(time.Millisecond)
	want := slices.DeleteFunc(before, func(name string) bool {
		return strings.HasPrefix(name, old.Folder()) || strings.HasPrefix(name, gone.Folder())
	})
	if diff := cmp.Diff(want, s.stored()); diff != "" || !slices.Equal(reasons, []string{"ArchivesDeleted"}) {
		t.Errorf("events %v; (-want +stored)\n%s", reasons, diff)
	}
	if reasons := s.cycle(2 * time.Hour); !slices.Equal(want, s.stored()) || reasons != nil {
		t.Errorf("later: %v, %v", s.stored(), reasons)
	}
}

// D14: an archive that a Workspace starts to need after the list was made is kept.
func TestAnArchiveThatIsNeededAtTheLastMoment(t *testing.T) {
	for name, take := range map[string]func(status *v1alpha1.WorkspaceStatus, key archive.Key){
		"recorded":       func(status *v1alpha1.WorkspaceStatus, key archive.Key) { status.ArchiveKey = key.Data() },
		"being made":     func(status *v1alpha1.WorkspaceStatus, key archive.Key) { status.Operation.ID = key.OpID },
		"being restored": func(status *v1alpha1.WorkspaceStatus, _ archive.Key) { status.Operation.Type = "RESTORING" },
		"in ERROR": func(status *v1alpha1.WorkspaceStatus, _ archive.Key) {
			status.Phase, status.Operation = v1alpha1.PhaseError, nil
		},
		"unknown phase": func(status *v1alpha1.WorkspaceStatus, _ archive.Key) { status.Phase = "" },
		"mentioned in the status, its key removed by hand": func(status *v1alpha1.WorkspaceStatus, _ archive.Key) {
			status.Phase, status.Operation, status.Archive = "PENDING", nil, &v1alpha1.ArchiveStatus{SizeBytes: 4}
		},
		"looked for, in a store that does not answer": func(status *v1alpha1.WorkspaceStatus, _ archive.Key) {
			status.Phase, status.Operation = "PENDING", nil
			status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionArchiveReady, Status: metav1.ConditionUnknown}}
		},
	} {
		for _, when := range []int{2, 3} { // before the list that decides, and before the last check
			s := newStage(t, folder(t))
			ann := s.workspace("ann")
			s.status(ann, func(status *v1alpha1.WorkspaceStatus) {
				status.Operation = &v1alpha1.Operation{Type: v1alpha1.OperationArchiving, ID: "another"}
			})
			old := s.archive(ann.UID)
			s.archive(ann.UID) // the newest is never deleted
			s.cycle(0)
			s.listed = func(n int) error {
				if n == when {
					s.status(ann, func(status *v1alpha1.WorkspaceStatus) { take(status, old) })
				}
				return nil
			}
			s.cycle(2 * time.Hour)
			if !s.has(old) {
				t.Errorf("%s before list %d: it is gone", name, when)
			}
			s.listed = nil
			s.status(ann, func(status *v1alpha1.WorkspaceStatus) {
				status.Phase, status.ArchiveKey, status.Operation = "PENDING", "", nil
				status.Archive, status.Conditions = nil, []metav1.Condition{{Type: v1alpha1.ConditionArchiveReady, Status: metav1.ConditionFalse}}
			})
			s.cycle(2 * time.Hour)
			if !s.has(old) {
				t.Errorf("%s before list %d: the two hours did not restart", name, when)
			}
			if s.cycle(2 * time.Hour); s.has(old) {
				t.Errorf("%s before list %d: it stays for ever", name, when)
			}
		}
	}
}

// W63: the status of a Workspace is older than its archives, because etcd was restored from a backup.
func TestTheNewestArchiveOutlivesAnOlderStatus(t *testing.T) {
	s := newStage(t, folder(t))
	ann := s.workspace("ann")
	recorded, forgotten, newest := s.archive(ann.UID), s.archive(ann.UID), s.archive(ann.UID)
	s.status(ann, func(status *v1alpha1.WorkspaceStatus) {
		status.Phase, status.ArchiveKey = "PENDING", recorded.Data()
	})
	s.cycle(0)
	s.cycle(2 * time.Hour)
	if s.cycle(2 * time.Hour); !s.has(recorded) || !s.has(newest) || s.has(forgotten) {
		t.Errorf("recorded %s, newest %s; stored: %v", recorded, newest, s.stored())
	}
	s.must(s.Delete(t.Context(), ann))
	s.workspace("bob")
	s.cycle(2 * time.Hour)
	if s.cycle(2 * time.Hour); len(s.stored()) > 0 {
		t.Errorf("after the Workspace was deleted: %v", s.stored())
	}
}

// D14: a failed list, of Workspaces or of archives, ends the cycle; what happened meanwhile is unknown.
func TestWhatFailsInterrupts(t *testing.T) {
	failure := errors.New("no answer")
	for name, broken := range map[string]func(s *stage) (mend func()){
		"the first list":  func(s *stage) func() { return s.failing(1, failure) },
		"the second list": func(s *stage) func() { return s.failing(2, failure) },
		"the last look":   func(s *stage) func() { return s.failing(3, failure) },
		"the store": func(s *stage) func() {
			secret := &corev1.Secret{}
			s.must(s.Get(s.Context(), client.ObjectKey{Namespace: "team", Name: "store"}, secret))
			good := secret.Data
			secret.Data = map[string][]byte{"folder": append(slices.Clone(good["folder"]), "-is-away"...)}
			s.must(s.Update(s.Context(), secret))
			return func() {
				secret.Data = good
				s.must(s.Update(s.Context(), secret))
			}
		},
		"nothing but time": func(s *stage) func() {
			s.clock.SetTime(s.clock.Now().Add(2 * time.Hour))
			return func() {}
		},
	} {
		s := newStage(t, folder(t)).withLedger()
		s.workspace("ann")
		keys := s.orphans(2)
		slices.SortFunc(keys, func(a, b archive.Key) int { return strings.Compare(a.OpID, b.OpID) })
		orphan := keys[1] // the check of the first one fails, which does not affect this one
		s.cycle(0)
		mend := broken(s)
		s.cycle(2 * time.Hour)
		if mend(); !s.has(orphan) {
			t.Errorf("%s failed, and the archive is gone", name)
		}
		s.cycle(2*time.Hour - time.Second)
		if !s.has(orphan) {
			t.Errorf("%s failed, and the two hours went on", name)
		}
		if s.cycle(2 * time.Hour); s.has(orphan) {
			t.Errorf("%s failed, and the archive stays for ever", name)
		}
	}
}

func (s *stage) failing(n int, err error) func() {
	s.listed = func(list int) error {
		if list == n {
			return err
		}
		return nil
	}
	return func() { s.listed = nil }
}

// D14: another installation's archives are left alone, whichever was first.
func TestAnotherInstallationsArchives(t *testing.T) {
	secret := folder(t)
	s, other := newStage(t, secret).withLedger(), newStage(t, secret).withLedger()
	s.must(other.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kyklos-system"}}))
	s.must(other.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kyklos-system", UID: "another-cluster"}}))
	s.workspace("ann")
	other.workspace("bob")
	orphan := s.orphans(1)[0]
	s.cycle(0)
	for range 3 {
		if reasons := other.cycle(2 * time.Hour); !slices.Equal(reasons, []string{"ArchiveStoreForeign"}) || !s.has(orphan) {
			t.Fatalf("the other one: %v, %v", reasons, s.stored())
		}
	}
	s.must(s.store.Delete(t.Context(), ownerName))
	if reasons := other.cycle(2 * time.Hour); reasons != nil {
		t.Errorf("when it may take them over: %v", reasons)
	}
	if reasons := s.cycle(2 * time.Hour); !slices.Equal(reasons, []string{"ArchiveStoreForeign"}) || !s.has(orphan) {
		t.Errorf("this one, when the other one has: %v, %v", reasons, s.stored())
	}
}

// The Workspaces of a namespace that is no longer served are not visible, but they exist.
func TestNamespacesThatAreNotServed(t *testing.T) {
	secret := folder(t)
	s := newStage(t, secret)
	s.must(s.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "store"}, Data: secret}))
	s.workspace("ann")
	whole, torn, damaged := s.orphans(1)[0], s.orphans(1)[0], s.orphans(1)[0]
	s.must(errors.Join(s.store.Delete(t.Context(), torn.Marker()), s.store.Delete(t.Context(), damaged.Marker()),
		s.store.Put(t.Context(), damaged.Marker(), []byte("what?"))))
	lab := s.workspace("bob")
	lab.Namespace, lab.ResourceVersion, lab.UID = "lab", "", "bob"
	s.must(s.Create(t.Context(), lab))
	s.collector.Namespaces = []string{"lab"}
	s.cycle(0)
	s.cycle(2 * time.Hour)
	if !s.has(whole) || !s.has(damaged) || slices.Contains(s.stored(), torn.Data()) {
		t.Errorf("stored: %v", s.stored())
	}
	s.collector.Namespaces = []string{"lab", "team"}
	s.cycle(2 * time.Hour)
	if s.has(whole) {
		t.Error("what is served again is not deleted")
	}
}
