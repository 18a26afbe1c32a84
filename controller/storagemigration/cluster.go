package storagemigration

import (
	"fmt"
	"time"

	svmv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// claimLimit is how long a StorageVersionMigration may wait for a controller to take it up;
	// kube-controller-manager takes milliseconds.
	claimLimit = time.Minute
	// runLimit is how long one may run. It says nothing about how far it is, and a
	// kube-controller-manager that went away leaves it running for ever.
	runLimit = 30 * time.Minute
	// cleanUpLimit is how long kube-controller-manager gets, after success, to set storedVersions.
	cleanUpLimit = 10 * time.Second
)

// goalAnnotation says which goal a StorageVersionMigration was created for: one that finished before
// the storage version moved again says nothing about now.
const goalAnnotation = "kyklos.io/storage-migration-goal"

// request is what asks the cluster's migrator. There is one name per definition, so that two never
// run side by side, and so that RBAC can name it.
func request(crd *definition) *svmv1.StorageVersionMigration {
	return &svmv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{
			Name:        requestName(crd.Name),
			Annotations: map[string]string{goalAnnotation: goalOf(crd).String()},
		},
		Spec: svmv1.StorageVersionMigrationSpec{
			Resource: metav1.GroupResource{Group: crd.Spec.Group, Resource: crd.Spec.Names.Plural},
		},
	}
}

func requestName(definition string) string { return "kyklos-" + definition }

func (g goal) String() string { return fmt.Sprintf("%s/%d/%s", g.uid, g.generation, g.version) }

// state is how things stand with the cluster's migrator.
type state int

const (
	useless  state = iota // it cannot do this migration, or could not
	unasked               // it may be asked
	stale                 // it has an answer to an earlier request, which must go first
	busy                  // it has our request
	finished              // all objects are rewritten
)

// judge reads the request as it is on the API server, nil if it is not there. why explains useless.
func judge(svm *svmv1.StorageVersionMigration, crd *definition, now time.Time) (s state, why string) {
	if svm == nil {
		return others(crd, now)
	}
	want := request(crd)
	asked, ours := svm.Annotations[goalAnnotation]
	if !ours || svm.Spec.Resource != want.Spec.Resource {
		return useless, fmt.Sprintf("the StorageVersionMigration %s is somebody else's", svm.Name)
	}
	running := meta.IsStatusConditionTrue(svm.Status.Conditions, string(svmv1.MigrationRunning))
	succeeded := meta.FindStatusCondition(svm.Status.Conditions, string(svmv1.MigrationSucceeded))
	failed := meta.FindStatusCondition(svm.Status.Conditions, string(svmv1.MigrationFailed))
	age := now.Sub(svm.CreationTimestamp.Time)
	switch {
	case asked != want.Annotations[goalAnnotation]:
		if disposable(svm) {
			return stale, ""
		}
	case isTrue(failed):
		return useless, "the cluster's migrator failed: " + failed.Message
	case isTrue(succeeded):
		if running && now.Sub(succeeded.LastTransitionTime.Time) < cleanUpLimit {
			return busy, ""
		}
		return finished, ""
	case !running && age >= claimLimit:
		return useless, fmt.Sprintf("no controller has taken up the StorageVersionMigration %s within %s", svm.Name, claimLimit)
	}
	if age >= runLimit {
		return useless, fmt.Sprintf("the cluster's migrator has not finished within %s", runLimit)
	}
	return busy, ""
}

// others judges where there is no request: all may be done but for a migration that somebody else asked
// for, whose result is worth waiting for.
func others(crd *definition, now time.Time) (s state, why string) {
	since := runningSince(crd)
	switch {
	case !settledByName(crd) || since.IsZero():
		return unasked, ""
	case now.Sub(since) >= runLimit:
		return useless, fmt.Sprintf("the cluster's migrator has not finished within %s", runLimit)
	}
	return busy, ""
}

// disposable reports whether nobody works on svm, so that deleting it loses nothing: a running one
// that is deleted leaves its condition on the definition for ever.
func disposable(svm *svmv1.StorageVersionMigration) bool {
	return !meta.IsStatusConditionTrue(svm.Status.Conditions, string(svmv1.MigrationRunning))
}

func isTrue(c *metav1.Condition) bool { return c != nil && c.Status == metav1.ConditionTrue }
