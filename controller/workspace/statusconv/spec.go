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

// maxToken is the maximum length of status.retryToken.
const maxToken = 256

// Spec converts the desired state and the metadata of a Workspace. namespaceTerminating is not part of the object.
func Spec(ws *v1alpha1.Workspace, namespaceTerminating bool) lifecycle.Workspace {
	return lifecycle.Workspace{
		Name: ws.Name, UID: string(ws.UID), CreatedAt: ws.CreationTimestamp.Time, Generation: ws.Generation,
		Desired: desired(ws.Spec.DesiredState), Pause: ws.Spec.Pause, HasStore: ws.Spec.Archive != nil, RestoreFrom: ws.Spec.RestoreFrom,
		Timeouts:             timeouts(ws.Spec.Timeouts),
		DeletionPolicy:       deletion(ws.Spec.DeletionPolicy),
		Deleting:             ws.DeletionTimestamp != nil,
		NamespaceTerminating: namespaceTerminating,
		Finalizer:            sets.New(ws.Finalizers...).Has(objects.Finalizer),
		RetryToken:           cut(retryToken(ws.Annotations), maxToken),
		AcceptedLoss:         ws.Annotations[objects.AnnotationAcceptLoss],
		Adopts:               ws.Annotations[objects.AnnotationAdopt],
		ArchiveReady:         archiveReady(ws),
	}
}

// retryToken is the annotation that requests a retry. A volume to adopt requests one too: it may be in no cache yet.
func retryToken(annotations map[string]string) string {
	return strings.TrimSpace(annotations[objects.AnnotationAdopt] + " " + annotations[objects.AnnotationRetry])
}

// archiveReady returns the status of the condition as it was last written.
func archiveReady(ws *v1alpha1.Workspace) lifecycle.Truth {
	if c := meta.FindStatusCondition(ws.Status.Conditions, v1alpha1.ConditionArchiveReady); c != nil {
		return lifecycle.Truth(c.Status)
	}
	return ""
}

// desired returns the desired state; the schema's default for an unknown one.
func desired(state v1alpha1.DesiredState) lifecycle.State {
	switch known := lifecycle.State(state); known {
	case lifecycle.Pending, lifecycle.Standby:
		return known
	default:
		return lifecycle.Running
	}
}

// deletion returns the policy. An unknown one keeps the home, since the others cannot be undone.
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

// Limit returns the time limit of one attempt of an operation (W49).
func Limit(ws *v1alpha1.Workspace, operation lifecycle.OperationType) time.Duration {
	if limit := timeouts(ws.Spec.Timeouts)[operation]; limit > 0 {
		return limit
	}
	return lifecycle.TraitOf(operation).Limit
}

// cut shortens a text to a number of bytes, at a character boundary.
func cut(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "")
}
