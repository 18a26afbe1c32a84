package admission

import (
	"fmt"
	"strings"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// WorkspaceFacts are what the rules know of other objects. The zero value knows nothing, and nothing is
// warned about for want of a fact.
type WorkspaceFacts struct {
	// Unserved says that the manager does not serve the object's namespace.
	Unserved bool
	// StoreMissing says that the Secret of spec.archive.storeRef is known not to exist.
	StoreMissing bool
	// ForeignPod and ForeignVolume say that a new Workspace finds objects of the names that are to be
	// its own.
	ForeignPod, ForeignVolume bool
}

// WarnWorkspace returns what the author of obj should know, most important first; old is nil on create.
// Each warning is shorter than 250 bytes: the API server may cut longer ones.
func WarnWorkspace(obj, old *v1alpha1.Workspace, facts WorkspaceFacts) []string {
	path := field.NewPath("spec")
	warnings := unservedWarnings(obj.Namespace, facts.Unserved, "nothing is done here")
	warnings = append(warnings, foreignWarnings(obj, facts)...)
	warnings = append(warnings, archiveWarnings(obj, old, path, facts)...)
	if old != nil {
		warnings = append(warnings, nextStartWarnings(obj, old, path)...)
	}
	return warnings
}

// foreignWarnings tells who would wait in vain: Kyklos never takes over what it did not make (D20).
func foreignWarnings(obj *v1alpha1.Workspace, facts WorkspaceFacts) []string {
	var warnings []string
	for _, foreign := range []struct {
		there      bool
		kind, name string
	}{
		{facts.ForeignVolume, "PersistentVolumeClaim", "ws-" + obj.Name + "-home"},
		{facts.ForeignPod, "Pod", "ws-" + obj.Name},
	} {
		if foreign.there {
			warnings = append(warnings, fmt.Sprintf("metadata.name: there is a %s %s already that this Workspace did not make: Kyklos leaves it alone, and waits until it is gone",
				foreign.kind, quote(foreign.name)))
		}
	}
	return warnings
}

// archiveWarnings says why a home will not be archived, or not be found again.
func archiveWarnings(obj, old *v1alpha1.Workspace, path *field.Path, facts WorkspaceFacts) []string {
	spec := &obj.Spec
	if spec.Archive == nil {
		if old != nil && spec.DesiredState == v1alpha1.DesiredPending {
			return []string{fmt.Sprintf("%s: there is no archive to put the home in: a volume that is there stays, and its home with it; give archive.storeRef",
				path.Child("desiredState"))}
		}
		return nil
	}
	var warnings []string
	store := path.Child("archive", "storeRef", "name")
	if facts.StoreMissing {
		warnings = append(warnings, fmt.Sprintf("%s: there is no Secret %s in this namespace: until there is, the home can be neither archived nor restored",
			store, quote(spec.Archive.StoreRef.Name)))
	}
	if movedStore(obj, old) {
		warnings = append(warnings, fmt.Sprintf("%s: the home is archived in the store of %s: unless %s names the same store, it cannot be restored",
			store, quote(old.Spec.Archive.StoreRef.Name), quote(spec.Archive.StoreRef.Name)))
	}
	if idle, kept := spec.StandbyTTLSeconds, spec.ArchiveTTLSeconds; kept > 0 && kept < idle {
		warnings = append(warnings, fmt.Sprintf("%s: %d seconds after it was stopped the workspace is archived and its volume deleted, which is sooner than an idle one is stopped (%d)",
			path.Child("archiveTTLSeconds"), kept, idle))
	}
	return warnings
}

// movedStore reports whether the only copy of the home is in a store that is no longer named.
func movedStore(obj, old *v1alpha1.Workspace) bool {
	return old != nil && old.Spec.Archive != nil && obj.Status.ArchiveKey != "" && obj.Status.Phase == v1alpha1.Phase(v1alpha1.DesiredPending) &&
		old.Spec.Archive.StoreRef != obj.Spec.Archive.StoreRef
}

// nextStartWarnings names the changes that a running workspace does not see.
func nextStartWarnings(obj, old *v1alpha1.Workspace, path *field.Path) []string {
	if obj.Status.Phase != v1alpha1.Phase(v1alpha1.DesiredRunning) || obj.Spec.DesiredState != v1alpha1.DesiredRunning {
		return nil
	}
	now, before := &obj.Spec.WorkspacePod, &old.Spec.WorkspacePod
	var changed []string
	for _, part := range []struct {
		name        string
		now, before any
	}{
		{"image", now.Image, before.Image},
		{"command", now.Command, before.Command},
		{"args", now.Args, before.Args},
		{"env", now.Env, before.Env},
		{"ports", now.Ports, before.Ports},
		{"resources", now.Resources, before.Resources},
		{"nodeSelector", now.NodeSelector, before.NodeSelector},
		{"tolerations", now.Tolerations, before.Tolerations},
		{"serviceAccountName", now.ServiceAccountName, before.ServiceAccountName},
		{"imagePullSecrets", now.ImagePullSecrets, before.ImagePullSecrets},
		{"terminationGracePeriodSeconds", now.TerminationGracePeriodSeconds, before.TerminationGracePeriodSeconds},
		{"readinessProbe", now.ReadinessProbe, before.ReadinessProbe},
	} {
		if !apiequality.Semantic.DeepEqual(part.now, part.before) {
			changed = append(changed, part.name)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	what := strings.Join(changed, ", ")
	if more := len(changed) - 3; more > 0 {
		what = fmt.Sprintf("%s and %d more", strings.Join(changed[:3], ", "), more)
	}
	return []string{fmt.Sprintf("%s: the workspace goes on as it was started; its next start (desiredState STANDBY, then RUNNING) takes over %s", path, what)}
}
