package storagemigration_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	svmv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const requestName = "kyklos-" + crdName

// request reads the request to the cluster's migrator, nil if there is none.
func (s *stage) request() *svmv1.StorageVersionMigration {
	s.Helper()
	svm := &svmv1.StorageVersionMigration{}
	err := s.Get(s.Context(), client.ObjectKey{Name: requestName}, svm)
	if apierrors.IsNotFound(err) {
		return nil
	}
	s.must(err)
	return svm
}

// ask creates a request under the name of Kyklos's own.
func (s *stage) ask(group, resource string, annotations map[string]string) {
	s.Helper()
	s.must(s.Create(s.Context(), &svmv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{Name: requestName, Annotations: annotations},
		Spec:       svmv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: group, Resource: resource}},
	}))
}

// nudge writes to an unrelated object until quiet is called. kube-controller-manager
// migrates only when its watch has seen a resourceVersion that is new enough, which without writes
// takes it more than a minute.
func (s *stage) nudge() (quiet func()) {
	beacon := scaler("beacon", oldOne)
	beacon.SetNamespace("kube-public")
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for tick := time.Tick(100 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick:
				object := beacon.DeepCopy()
				if err := s.Create(context.Background(), object); err == nil {
					_ = s.Delete(context.Background(), object)
				}
			}
		}
	})
	return sync.OnceFunc(func() { close(done); all.Wait() })
}

// One control plane for all that the cluster's migrator does: its turns follow one another.
func TestTheClustersMigrator(t *testing.T) {
	s := newStage(t)
	for _, turn := range []struct {
		name string
		run  func(*stage)
	}{
		{"it does the work", clusterMigrates},
		{"an answer to an earlier request counts for nothing", staleAnswer},
		{"a foreign request stays", foreignRequest},
		{"it fails", clusterFails},
	} {
		t.Run(turn.name, func(t *testing.T) {
			of := *s
			of.T = t
			turn.run(&of)
		})
	}
}

func clusterMigrates(s *stage) {
	const count = 30
	s.fill(count)
	before := s.objects()
	s.store(newOne)
	stop := s.migrate(1000)
	defer stop()
	quiet := s.nudge()
	s.migrated(newOne)
	quiet()
	s.allStored(count, newOne, "2")
	if diff := cmp.Diff(before, s.objects()); diff != "" {
		s.Errorf("the objects have changed (-before +after):\n%s", diff)
	}
	s.event("StorageMigrationStarted", "by the StorageVersionMigration "+requestName)
	s.event("StorageMigrationCompleted", "All objects are stored as v1beta1")
	s.eventually("the request gone", func() bool { return s.request() == nil })
}

// The cluster's migrator finished this very request, but before the storage version moved.
func staleAnswer(s *stage) {
	s.ask("kyklos.io", "timewindowscalers", map[string]string{"kyklos.io/storage-migration-goal": "of/1/v1alpha1"})
	quiet := s.nudge()
	s.eventually("an answer", func() bool {
		conditions := s.request().Status.Conditions
		return meta.IsStatusConditionTrue(conditions, string(svmv1.MigrationSucceeded)) &&
			meta.IsStatusConditionFalse(conditions, string(svmv1.MigrationRunning))
	})
	quiet()
	s.store(oldOne)
	stop := s.migrate(1000)
	defer stop()
	quiet = s.nudge()
	s.migrated(oldOne)
	quiet()
	s.allVersion(oldOne)
	s.eventually("the requests gone", func() bool { return s.request() == nil })
}

func foreignRequest(s *stage) {
	s.ask("apps", "deployments", nil)
	foreign := s.request().UID
	s.store(newOne)
	stop := s.migrate(1000)
	s.migrated(newOne)
	s.event("StorageMigrationStarted", "by Kyklos itself: the StorageVersionMigration "+requestName+" was not created by Kyklos")
	s.event("StorageMigrationCompleted", "30 rewritten")
	stop()
	svm := s.request()
	if svm == nil || svm.UID != foreign {
		s.Fatal("a foreign request was deleted")
	}
	s.must(s.Delete(s.Context(), svm))
}

// kube-controller-manager gives up at the first object that is refused, but still reports in storedVersions
// that all are migrated. Kyklos does not rely on that, and rewrites the rest.
func clusterFails(s *stage) {
	lift := s.forbid("timewindowscalers", "s0007")
	defer lift()
	s.store(oldOne)
	stop := s.migrate(1000)
	defer stop()
	defer s.nudge()()
	s.event("StorageMigrationStarted", "by Kyklos itself: the cluster's migrator failed: ")
	s.eventually("every object rewritten", func() bool {
		for _, object := range s.stored() {
			if object.Version != oldOne {
				return false
			}
		}
		return true
	})
	s.migrated(oldOne)
	s.eventually("the definition saying that it succeeded", func() bool {
		for _, c := range s.definition().Status.Conditions {
			if c.Type == apiextensionsv1.StorageMigrating {
				return c.Status == apiextensionsv1.ConditionFalse && c.Reason == "MigrationSucceeded"
			}
		}
		return false
	})
	s.eventually("the request gone", func() bool { return s.request() == nil })
}
