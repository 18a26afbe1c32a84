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

// workspaces lists all Workspaces that are served, from the API server itself. Half of them is none:
// any error is one of all.
func (c *Collector) workspaces(ctx context.Context) ([]v1alpha1.Workspace, error) {
	namespaces := c.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var all []v1alpha1.Workspace
	for _, namespace := range namespaces {
		var list v1alpha1.WorkspaceList
		if err := c.Live.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return nil, fmt.Errorf("list the Workspaces: %w", err)
		}
		all = append(all, list.Items...)
	}
	return all, nil
}

// keepers says what each Workspace needs.
func (c *Collector) keepers(ctx context.Context) ([]lifecycle.Reference, error) {
	workspaces, err := c.workspaces(ctx)
	if err != nil {
		return nil, err
	}
	keepers := make([]lifecycle.Reference, len(workspaces))
	for i := range workspaces {
		keepers[i] = keeperOf(&workspaces[i])
	}
	return keepers, nil
}

// keeperOf is a Workspace as far as it needs archives. One whose status is not known needs all of its
// own, as one in ERROR.
func keeperOf(ws *v1alpha1.Workspace) lifecycle.Reference {
	keeper := lifecycle.Reference{
		UID:        string(ws.UID),
		ArchiveKey: ws.Status.ArchiveKey,
		Operation:  lifecycle.None,
		Failed:     ws.Status.Phase == v1alpha1.PhaseError || ws.Status.Phase == "" || lacksKey(&ws.Status),
		Retain:     1,
	}
	if operation := ws.Status.Operation; operation != nil && operation.Type != "" {
		keeper.Operation, keeper.OperationID = lifecycle.OperationType(operation.Type), operation.ID
	}
	if ws.Spec.Archive != nil {
		keeper.Retain = int(ws.Spec.Archive.Retain)
	}
	return keeper
}

// lacksKey reports whether a status without archiveKey and without a home still tells of an archive. Its
// controller looks for that one, but not while the store does not answer to the Workspace's own Secret.
func lacksKey(status *v1alpha1.WorkspaceStatus) bool {
	told := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionArchiveReady)
	return status.Phase == v1alpha1.Phase(v1alpha1.DesiredPending) && status.ArchiveKey == "" &&
		(status.Archive != nil || told != nil && told.Status != metav1.ConditionFalse)
}
