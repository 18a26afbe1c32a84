package cli

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/cli/manifest"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/internal/kubeconfig"
)

// completionTimeout limits the request to the API server while the user waits.
const completionTimeout = 2 * time.Second

// completeScalers completes the names of TimeWindowScalers in the files of the command line, or in the cluster. On an error there
// is nothing to complete.
func completeScalers(cmd *cobra.Command, args []string, prefix string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	list := scalersOfFiles
	if files := cmd.Flags().Lookup("filename"); files == nil || !files.Changed {
		list = scalersOfCluster
	}
	taken := map[string]bool{}
	for _, name := range args {
		taken[name] = true
	}
	for _, name := range list(cmd) {
		if strings.HasPrefix(name, prefix) && !taken[name] {
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
	set, err := manifest.Read(files, strings.NewReader("")) // standard input is for the command
	if err != nil {
		return nil
	}
	for _, object := range set.Objects {
		if source.IsScaler(object) {
			names = append(names, object.Name())
		}
	}
	return names
}

func scalersOfCluster(cmd *cobra.Command) (names []string) {
	inCluster(cmd, func(ctx context.Context, reader client.Reader, namespace string) {
		scalers, err := source.Objects(ctx, reader, namespace, nil)
		if err != nil {
			return
		}
		for i := range scalers {
			names = append(names, scalers[i].Name)
		}
	})
	return names
}

// completeWorkspaces completes the name of a Workspace in the cluster.
func completeWorkspaces(cmd *cobra.Command, args []string, prefix string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	inCluster(cmd, func(ctx context.Context, reader client.Reader, namespace string) {
		var list v1alpha1.WorkspaceList
		if reader.List(ctx, &list, client.InNamespace(namespace)) != nil {
			return
		}
		for i := range list.Items {
			if name := list.Items[i].Name; strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

// inCluster calls read with the cluster of the command line, if there is one. The user waits for it.
func inCluster(cmd *cobra.Command, read func(ctx context.Context, reader client.Reader, namespace string)) {
	var from kubeconfig.Flags
	for name, value := range map[string]*string{"kubeconfig": &from.Kubeconfig, "context": &from.Context, "namespace": &from.Namespace} {
		*value, _ = cmd.Flags().GetString(name)
	}
	reader, namespace, err := from.Reader("completion")
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
	defer cancel()
	read(ctx, reader, namespace)
}
