package statusconv

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// maxToken is how long status.retryToken can be.
const maxToken = 256

// Spec returns what a Workspace asks of the engine. Whether its namespace is going is not written on it.
func Spec(ws *v1alpha1.Workspace, namespaceTerminating bool) lifecycle.Workspace {
	return lifecycle.Workspace{
		Name: ws.Name, UID: string(ws.UID), CreatedAt: ws.CreationTimestamp.Time, Generation: ws.Generation,
		Desired: desired(ws.Spec.DesiredState), Pause: ws.Spec.Pause, HasStore: ws.Spec.Archive != nil,
		Timeouts:             timeouts(ws.Spec.Timeouts),
		DeletionPolicy:       deletion(ws.Spec.DeletionPolicy),
		Deleting:             ws.DeletionTimestamp != nil,
		NamespaceTerminating: namespaceTerminating,
		Finalizer:            sets.New(ws.Finalizers...).Has(objects.Finalizer),
		RetryToken:           cut(ws.Annotations[objects.AnnotationRetry], maxToken),
		AcceptedLoss:         ws.Annotations[objects.AnnotationAcceptLoss],
		ArchiveReady:         archiveReady(ws),
	}
}

// archiveReady returns the status of the condition as it was written last.
func archiveReady(ws *v1alpha1.Workspace) lifecycle.Truth {
	if c := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionArchiveReady); c != nil {
		return lifecycle.Truth(c.Status)
	}
	return ""
}

// desired returns the state that is asked for; the schema's default for one that it does not know.
func desired(state v1alpha1.DesiredState) lifecycle.State {
	switch known := lifecycle.State(state); known {
	case lifecycle.Pending, lifecycle.Standby:
		return known
	default:
		return lifecycle.Running
	}
}

// deletion returns the policy. One that is unknown keeps the home: the others cannot be undone.
func deletion(policy v1alpha1.DeletionPolicy) lifecycle.DeletionPolicy {
	switch policy {
	case v1alpha1.DeletionDelete, "":
		return lifecycle.DeleteHome
	case v1alpha1.DeletionArchive:
		return lifecycle.ArchiveHome
	default:
		return lifecycle.RetainHome
	}
}

func timeouts(t v1alpha1.WorkspaceTimeouts) map[lifecycle.OperationType]time.Duration {
	limits := map[lifecycle.OperationType]time.Duration{}
	for operation, seconds := range map[lifecycle.OperationType]int32{
		lifecycle.Provisioning: t.ProvisioningSeconds, lifecycle.Restoring: t.RestoringSeconds, lifecycle.Archiving: t.ArchivingSeconds,
		lifecycle.Starting: t.StartingSeconds, lifecycle.Stopping: t.StoppingSeconds, lifecycle.Removing: t.DeletingSeconds,
	} {
		if seconds > 0 {
			limits[operation] = time.Duration(seconds) * time.Second
		}
	}
	return limits
}

// Limit returns how long one attempt of an operation may take (W49).
func Limit(ws *v1alpha1.Workspace, operation lifecycle.OperationType) time.Duration {
	if limit := timeouts(ws.Spec.Timeouts)[operation]; limit > 0 {
		return limit
	}
	for _, trait := range lifecycle.Traits() {
		if trait.Operation == operation {
			return trait.Limit
		}
	}
	return 0
}

// cut shortens a text to some bytes, between characters.
func cut(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "")
}
