package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"kyklos.io/kyklos/apis/v1alpha1"
)

// workspaces lists the workspaces of the cluster and updates the links to their homes.
func (t *table) workspaces(ctx context.Context) ([]v1alpha1.Workspace, error) {
	var list v1alpha1.WorkspaceList
	if err := t.client.List(ctx, &list); err != nil {
		return nil, err
	}
	slices.SortFunc(list.Items, func(a, b v1alpha1.Workspace) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	return list.Items, t.homes.link(list.Items)
}

func renderWorkspaces(workspaces []v1alpha1.Workspace, homes homes) string {
	var text strings.Builder
	columns := tabwriter.NewWriter(&text, 0, 0, 3, ' ', 0)
	fmt.Fprint(columns, "WORKSPACE\tDESIRED\tSTATE\tOPERATION\tREADY\tHOME\n")
	for i := range workspaces {
		fmt.Fprintln(columns, strings.Join(situation(&workspaces[i], homes), "\t"))
	}
	_ = columns.Flush()
	return text.String()
}

// printMoves prints a line for each workspace that has changed since moved or is gone.
func printMoves(out io.Writer, workspaces []v1alpha1.Workspace, moved map[string]string, homes homes, now time.Time) {
	gone := maps.Clone(moved)
	for i := range workspaces {
		is := situation(&workspaces[i], homes)
		delete(gone, is[0])
		if seen := strings.Join(is, "\t"); moved[is[0]] != seen {
			moved[is[0]] = seen
			fmt.Fprintf(out, "%-8s  workspace %s is %s, desired %s: operation %s, ready %s, home %s\n",
				now.Format(time.TimeOnly), is[0], is[2], is[1], is[3], is[4], is[5])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		delete(moved, name)
		fmt.Fprintf(out, "%-8s  workspace %s deleted\n", now.Format(time.TimeOnly), name)
	}
}

// situation returns a workspace's row of the table.
func situation(ws *v1alpha1.Workspace, homes homes) []string {
	operation, state := "-", ws.Status.DisplayState
	if ws.Status.Operation != nil && ws.Status.Operation.Type != v1alpha1.OperationNone {
		operation = string(ws.Status.Operation.Type)
	}
	if state == "" {
		state = "-"
	}
	return []string{ws.Namespace + "/" + ws.Name, string(ws.Spec.DesiredState), state, operation, ready(ws.Status.Conditions), homes.of(ws)}
}
