package admission

import (
	"reflect"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// WorkspaceFacts are what the rules know about other objects. The zero value knows nothing, and no rule
// reports anything for lack of a fact.
type WorkspaceFacts struct {
	// Unserved is the flag for which the manager leaves Workspaces of the namespace alone; empty if it serves them.
	Unserved string
	// StoreMissing: the Secret in spec.archive.storeRef is known not to exist.
	StoreMissing bool
	// ForeignPod and ForeignVolume: objects with the names of a new Workspace's own exist already.
	ForeignPod, ForeignVolume bool
	// PodInvalid is what the API server would say about the Pod of a new template.
	PodInvalid field.ErrorList
}

// CheckWorkspace applies all rules to obj; old is nil on create. Only those about spec.template refuse it: the rest of the
// schema does that by itself.
func CheckWorkspace(obj, old *v1alpha1.Workspace, facts WorkspaceFacts) (all Findings) {
	path := field.NewPath("spec")
	all.checkTemplate(obj, old, facts)
	all.warnNotServed(obj.Namespace, facts.Unserved)
	all.checkNames(obj, facts)
	all.checkArchive(obj, old, path, facts)
	all.checkNextStart(obj, old, path)
	return all
}

// checkNames warns about objects that keep the Workspace waiting: Kyklos never adopts an object that it did
// not create (D20).
func (all *Findings) checkNames(obj *v1alpha1.Workspace, facts WorkspaceFacts) {
	for _, foreign := range []struct {
		exists bool
		kind   schema.GroupVersionKind
		name   string
	}{
		{facts.ForeignVolume, persistentVolumeClaim, "ws-" + obj.Name + "-home"},
		{facts.ForeignPod, pod, "ws-" + obj.Name},
	} {
		if foreign.exists {
			all.warnOf(Other{foreign.kind.GroupKind(), foreign.name}, NameTaken, field.NewPath("metadata", "name"),
				"%s %s already exists and was not created for this Workspace: Kyklos does not touch it, and waits until it is deleted",
				foreign.kind.Kind, quote(foreign.name))
		}
	}
}

// checkArchive warns about homes that cannot be archived or restored.
func (all *Findings) checkArchive(obj, old *v1alpha1.Workspace, path *field.Path, facts WorkspaceFacts) {
	spec := &obj.Spec
	if spec.Archive == nil {
		if old != nil && spec.DesiredState == v1alpha1.DesiredPending {
			all.warn(ArchiveMissing, path.Child("desiredState"),
				"the home cannot be archived without archive.storeRef: an existing volume is kept, with the home on it")
		}
		return
	}
	store := path.Child("archive", "storeRef", "name")
	if facts.StoreMissing {
		all.warnOf(Other{secret.GroupKind(), spec.Archive.StoreRef.Name}, StoreMissing, store,
			"Secret %s does not exist in this namespace: until it does, the home can be neither archived nor restored, and a new one begins only with restoreFrom: empty",
			quote(spec.Archive.StoreRef.Name))
	}
	if movesStore(obj, old) {
		all.warn(StoreChanged, store, "the home is archived in the store of Secret %s: it can only be restored if %s is the same store",
			quote(old.Spec.Archive.StoreRef.Name), quote(spec.Archive.StoreRef.Name))
	}
	if idle, kept := spec.StandbyTTLSeconds, spec.ArchiveTTLSeconds; kept > 0 && kept < idle {
		all.warn(ArchiveTTL, path.Child("archiveTTLSeconds"),
			"%d seconds after the workspace was stopped it is archived and its volume deleted, which is sooner than an idle one is stopped (%d)", kept, idle)
	}
}

// movesStore reports whether the only copy of the home is in a store that is no longer configured.
func movesStore(obj, old *v1alpha1.Workspace) bool {
	return old != nil && old.Spec.Archive != nil && obj.Status.ArchiveKey != "" && obj.Status.Phase == v1alpha1.Phase(v1alpha1.DesiredPending) &&
		old.Spec.Archive.StoreRef != obj.Spec.Archive.StoreRef
}

// checkNextStart warns about changes that a running workspace does not pick up.
func (all *Findings) checkNextStart(obj, old *v1alpha1.Workspace, path *field.Path) {
	if old == nil || obj.Status.Phase != v1alpha1.Phase(v1alpha1.DesiredRunning) || obj.Spec.DesiredState != v1alpha1.DesiredRunning {
		return
	}
	now, before := reflect.ValueOf(obj.Spec.WorkspacePod), reflect.ValueOf(old.Spec.WorkspacePod)
	var changed []string
	for i := range now.NumField() {
		if !apiequality.Semantic.DeepEqual(now.Field(i).Interface(), before.Field(i).Interface()) {
			name, _, _ := strings.Cut(now.Type().Field(i).Tag.Get("json"), ",")
			changed = append(changed, name)
		}
	}
	if len(changed) > 0 {
		all.warn(NextStart, path, "changes to %s apply at the next start; to restart now, set desiredState to STANDBY, then RUNNING", firstOf(changed, 3))
	}
}
