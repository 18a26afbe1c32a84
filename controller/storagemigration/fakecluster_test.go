package storagemigration

import (
	"slices"
	"strconv"
	"time"

	svmv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// world is an API server and its own migrator, as a storage migration can observe them. It follows
// the source of Kubernetes 1.37, including its two bugs with storedVersions.
type world struct {
	now     time.Time
	off     time.Duration // by how much the managers' clock is wrong
	crd     *definition
	seen    *definition // by the watch, which lags
	objects map[string]*object
	svm     *svmv1.StorageVersionMigration
	// serves is false where there is no StorageVersionMigration; ignored is true where none is processed.
	serves, ignored bool
	// epoch is part of each continue token: those of an earlier one are answered with 410, which holds a fresh
	// token if renews is true.
	epoch  int
	renews bool
	// down is true while the API server does not answer.
	down     bool
	revision int
}

type object struct {
	version, revision string
	refused           bool
	// owned is the version that the managed fields name, empty without any.
	owned string
}

func (o *object) managedFields() []metav1.ManagedFieldsEntry {
	if o.owned == "" {
		return nil
	}
	return []metav1.ManagedFieldsEntry{{Manager: "team", Operation: metav1.ManagedFieldsOperationApply, APIVersion: "example/" + o.owned}}
}

// pageLength is the page size, for any limit.
const pageLength = 3

func (w *world) bump() string {
	w.revision++
	return strconv.Itoa(w.revision)
}

// clean reports whether every object is stored in the storage version.
func (w *world) clean() bool {
	for _, o := range w.objects {
		if o.version != storageVersion(w.crd).Name {
			return false
		}
	}
	return true
}

// stale reports whether managed fields name a version that is not served, although one is.
func (w *world) stale() bool {
	for _, o := range w.objects {
		if _, _, ok := endpoint(w.crd); ok && o.owned != "" && !serves(w.crd, "example/"+o.owned) {
			return true
		}
	}
	return false
}

// serve takes a version out of service, or back into it.
func (w *world) serve(index int) {
	crd := w.crd.DeepCopy()
	crd.Spec.Versions[index].Served = !crd.Spec.Versions[index].Served
	crd.Generation++
	w.store(crd)
}

// apply is a server-side apply in a version.
func (w *world) apply(o *object, version string) {
	if serves(w.crd, "example/"+version) {
		o.owned = version
		w.write(o)
	}
}

// flip moves the storage version to the other one.
func (w *world) flip() {
	crd := w.crd.DeepCopy()
	for i := range crd.Spec.Versions {
		crd.Spec.Versions[i].Storage = !crd.Spec.Versions[i].Storage
	}
	crd.Generation++
	w.store(crd)
}

// store keeps a changed definition; the storage version is always listed.
func (w *world) store(crd *definition) {
	if version := storageVersion(crd).Name; !slices.Contains(crd.Status.StoredVersions, version) {
		crd.Status.StoredVersions = append(crd.Status.StoredVersions, version)
	}
	crd.ResourceVersion = w.bump()
	w.crd = crd
}

// migrate runs the next step of the cluster's migrator.
func (w *world) migrate() {
	if w.svm == nil || w.ignored {
		return
	}
	conditions := &w.svm.Status.Conditions
	set := func(kind svmv1.MigrationConditionType, status metav1.ConditionStatus) {
		meta.SetStatusCondition(conditions, metav1.Condition{Type: string(kind), Status: status, LastTransitionTime: metav1.NewTime(w.now)})
	}
	is := func(kind svmv1.MigrationConditionType) bool {
		return meta.IsStatusConditionTrue(*conditions, string(kind))
	}
	switch ended := is(svmv1.MigrationSucceeded) || is(svmv1.MigrationFailed); {
	case !ended && !is(svmv1.MigrationRunning):
		set(svmv1.MigrationRunning, metav1.ConditionTrue)
		w.mark(apiextensionsv1.ConditionTrue, "MigrationRunning", true)
	case !ended:
		set(svmv1.MigrationSucceeded, metav1.ConditionTrue)
		for _, o := range w.objects {
			if o.refused {
				*conditions = nil
				set(svmv1.MigrationRunning, metav1.ConditionTrue)
				set(svmv1.MigrationFailed, metav1.ConditionTrue)
				return
			}
			w.write(o)
		}
	case is(svmv1.MigrationRunning):
		reason := "MigrationSucceeded"
		if is(svmv1.MigrationFailed) {
			reason = migrationFailed
		}
		i := slices.IndexFunc(w.crd.Status.Conditions, isMigrating)
		same := i >= 0 && w.crd.Status.Conditions[i].ObservedGeneration == w.crd.Generation
		w.mark(apiextensionsv1.ConditionFalse, reason, same)
		set(svmv1.MigrationRunning, metav1.ConditionFalse)
	}
}

func isMigrating(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
	return c.Type == apiextensionsv1.StorageMigrating
}

func (w *world) mark(status apiextensionsv1.ConditionStatus, reason string, shorten bool) {
	crd := w.crd.DeepCopy()
	crd.Status.Conditions = slices.DeleteFunc(crd.Status.Conditions, isMigrating)
	crd.Status.Conditions = append(crd.Status.Conditions, apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.StorageMigrating, Status: status, Reason: reason,
		LastTransitionTime: metav1.NewTime(w.now), ObservedGeneration: crd.Generation,
	})
	if shorten {
		crd.Status.StoredVersions = nil
	}
	w.store(crd)
}

// write stores an object again.
func (w *world) write(o *object) {
	o.version, o.revision = storageVersion(w.crd).Name, w.bump()
}
