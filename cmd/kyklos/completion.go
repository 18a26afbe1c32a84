package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/internal/desk"
	"kyklos.io/kyklos/internal/manifest"
)

// completionPatience is how long somebody who presses Tab waits for an API server.
const completionPatience = 2 * time.Second

// addCompletions has the commands whose arguments are names of scalers complete them.
func addCompletions(root *cobra.Command) {
	for _, name := range []string{"preview", "explain"} {
		if cmd, _, err := root.Find([]string{name}); err == nil && cmd != root && cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = completeScalers
		}
	}
}

// completeScalers completes names of TimeWindowScalers: of the files that the command line names, or of the cluster.
// What goes wrong leaves nothing to complete.
func completeScalers(cmd *cobra.Command, args []string, begun string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	known := scalersOfFiles
	if files := cmd.Flags().Lookup("filename"); files == nil || !files.Changed {
		known = scalersOfCluster
	}
	taken := map[string]bool{}
	for _, name := range args {
		taken[name] = true
	}
	for _, name := range known(cmd) {
		if strings.HasPrefix(name, begun) && !taken[name] {
			taken[name] = true
			names = append(names, name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func scalersOfFiles(cmd *cobra.Command) (names []string) {
	files, err := cmd.Flags().GetStringArray("filename")
	if err != nil {
		return nil
	}
	set, err := manifest.Read(files, strings.NewReader("")) // what is piped in is for the command
	if err != nil {
		return nil
	}
	for _, object := range set.Objects {
		if desk.IsScaler(object) {
			names = append(names, object.Name())
		}
	}
	return names
}

func scalersOfCluster(cmd *cobra.Command) (names []string) {
	var from cluster
	for name, value := range map[string]*string{"kubeconfig": &from.kubeconfig, "context": &from.context, "namespace": &from.namespace} {
		*value, _ = cmd.Flags().GetString(name)
	}
	reader, namespace, err := from.reader("completion")
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionPatience)
	defer cancel()
	scalers, err := desk.Objects(ctx, reader, namespace, nil)
	if err != nil {
		return nil
	}
	for i := range scalers {
		names = append(names, scalers[i].Name)
	}
	return names
}
