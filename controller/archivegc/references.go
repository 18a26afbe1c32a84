package archivegc

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

// workspaces lists all served Workspaces from the API server. The list is complete or an error.
func (c *Collector) workspaces(ctx context.Context) ([]v1alpha1.Workspace, error) {
	namespaces := c.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var all []v1alpha1.Workspace
	for _, namespace := range namespaces {
		var list v1alpha1.WorkspaceList
		if err := c.Live.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("list Workspaces: %w", err)
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// references returns which archives each Workspace needs.
func (c *Collector) references(ctx context.Context) ([]lifecycle.Reference, error) {
	workspaces, err := c.workspaces(ctx)
	if err != nil {
		return nil, err
	}
	references := make([]lifecycle.Reference, len(workspaces))
	for i := range workspaces {
		references[i] = referenceOf(&workspaces[i])
	}
	return references, nil
}

// referenceOf returns which archives a Workspace needs. One without a status needs all of its own, like one in ERROR.
func referenceOf(ws *v1alpha1.Workspace) lifecycle.Reference {
	reference := lifecycle.Reference{
		UID:        string(ws.UID),
		ArchiveKey: ws.Status.ArchiveKey,
		Named:      ws.Spec.RestoreFrom,
		Operation:  lifecycle.None,
		Failed:     ws.Status.Phase == v1alpha1.PhaseError || ws.Status.Phase == "" || lacksKey(&ws.Status),
		Retain:     1,
	}
	if operation := ws.Status.Operation; operation != nil && operation.Type != "" {
		reference.Operation, reference.OperationID = lifecycle.OperationType(operation.Type), operation.ID
	}
	if ws.Spec.Archive != nil {
		reference.Retain = int(ws.Spec.Archive.Retain)
	}
	return reference
}

// lacksKey reports whether a status without archiveKey and without a home still mentions an archive. The Workspace
// controller searches for it, but not while the store does not answer with the Workspace's own Secret.
func lacksKey(status *v1alpha1.WorkspaceStatus) bool {
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionArchiveReady)
	return status.Phase == v1alpha1.Phase(v1alpha1.DesiredPending) && status.ArchiveKey == "" &&
		(status.Archive != nil || ready != nil && ready.Status != metav1.ConditionFalse)
}
