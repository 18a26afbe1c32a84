package storagemigration

import (
	"fmt"
	"time"

	svmv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// pickUpLimit is how long a StorageVersionMigration may wait for a controller; kube-controller-manager takes
	// milliseconds.
	pickUpLimit = time.Minute
	// runLimit is how long one may run. It has no progress, and without a kube-controller-manager it runs for ever.
	runLimit = 30 * time.Minute
	// cleanUpLimit is how long kube-controller-manager gets, after success, to set storedVersions.
	cleanUpLimit = 10 * time.Second
)

// goalAnnotation holds the goal that a StorageVersionMigration was created for: one that finished before the
// storage version moved again does not count.
const goalAnnotation = "kyklos.io/storage-migration-goal"

// newRequest returns the StorageVersionMigration for the cluster's migrator. There is one name per definition, so
// that two never run side by side and RBAC can name it.
func newRequest(crd *definition) *svmv1.StorageVersionMigration {
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

// state is the state of the cluster's migrator.
type state int

const (
	unusable     state = iota // it cannot do this migration, or failed
	notRequested              // it can be asked
	outdated                  // it has finished an earlier request, which must be deleted first
	running                   // it works on the request
	finished                  // all objects are rewritten
)

// evaluate reads the request as it is on the API server, nil if there is none. why explains unusable.
func evaluate(svm *svmv1.StorageVersionMigration, crd *definition, now time.Time) (s state, why string) {
	if svm == nil {
		return withoutRequest(crd, now)
	}
	want := newRequest(crd)
	goal, ours := svm.Annotations[goalAnnotation]
	if !ours || svm.Spec.Resource != want.Spec.Resource {
		return unusable, fmt.Sprintf("the StorageVersionMigration %s was not created by Kyklos", svm.Name)
	}
	active := meta.IsStatusConditionTrue(svm.Status.Conditions, string(svmv1.MigrationRunning))
	succeeded := meta.FindStatusCondition(svm.Status.Conditions, string(svmv1.MigrationSucceeded))
	failed := meta.FindStatusCondition(svm.Status.Conditions, string(svmv1.MigrationFailed))
	age := now.Sub(svm.CreationTimestamp.Time)
	switch {
	case goal != want.Annotations[goalAnnotation]:
		if deletable(svm) {
			return outdated, ""
		}
	case isTrue(failed):
		return unusable, "the cluster's migrator failed: " + failed.Message
	case isTrue(succeeded):
		if active && now.Sub(succeeded.LastTransitionTime.Time) < cleanUpLimit {
			return running, ""
		}
		return finished, ""
	case !active && age >= pickUpLimit:
		return unusable, fmt.Sprintf("no controller picked up the StorageVersionMigration %s within %s", svm.Name, pickUpLimit)
	}
	if age >= runLimit {
		return unusable, fmt.Sprintf("the cluster's migrator did not finish within %s", runLimit)
	}
	return running, ""
}

// withoutRequest is the state without a request by Kyklos. A migration that others requested is waited for if
// nothing else is left to do.
func withoutRequest(crd *definition, now time.Time) (s state, why string) {
	since := runningSince(crd)
	switch {
	case !onlyStorageVersion(crd) || since.IsZero():
		return notRequested, ""
	case now.Sub(since) >= runLimit:
		return unusable, fmt.Sprintf("the cluster's migrator did not finish within %s", runLimit)
	}
	return running, ""
}

// deletable reports whether svm is not running: deleting a running one leaves its condition on the definition for ever.
func deletable(svm *svmv1.StorageVersionMigration) bool {
	return !meta.IsStatusConditionTrue(svm.Status.Conditions, string(svmv1.MigrationRunning))
}

func isTrue(c *metav1.Condition) bool { return c != nil && c.Status == metav1.ConditionTrue }
