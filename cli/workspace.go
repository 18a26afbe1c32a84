package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/cli/archives"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/kubeconfig"
)

type archivesOptions struct {
	kubeconfig.Flags
	store, format string
}

var archivesFormats = []string{"table", "json"}

func newWorkspaceCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "workspace",
		Short: "Start, stop, archive and open Workspaces, and list their archives",
		Example: `  # Start a Workspace and open it in the browser
  kyklos workspace open ann -n team

  # The archives of a home in a store
  kyklos workspace archives ann -n team`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, change := range changes {
		cmd.AddCommand(newStateCommand(change))
	}
	cmd.AddCommand(newOpenCommand(), newArchivesCommand())
	return cmd
}

func newArchivesCommand() *cobra.Command {
	options := archivesOptions{format: "table"}
	cmd := &cobra.Command{
		Use:   "archives NAME",
		Short: "List the archives of a Workspace's home",
		Long: `List the archives of a Workspace's home, the newest first: the keys for spec.restoreFrom, with time, size and
digest, and the fingerprints of those whom they are encrypted for. Archives of deleted Workspaces of this name are listed too; those that were kept on purpose are marked.

It reads the Secret of the store and asks the store itself, so the store must be reachable from here.
It changes nothing.`,
		Example: `  # Which archives in a store can a clone of ann begin with?
  kyklos workspace archives ann -n team

  # Those that a deleted Workspace left in a store
  kyklos workspace archives ann -n team --store home-archive -o json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeWorkspaces,
		RunE:              func(cmd *cobra.Command, names []string) error { return options.run(cmd, names[0]) },
	}
	options.Bind(cmd.Flags())
	cmd.Flags().StringVar(&options.store, "store", "", "name of the Secret of the store; empty is the one that the Workspace names")
	bindChoice(cmd, &options.format, "output", "o", "table or json", archivesFormats)
	return cmd
}

func (o *archivesOptions) run(cmd *cobra.Command, name string) error {
	if err := checkChoice("output", o.format, archivesFormats); err != nil {
		return err
	}
	reader, namespace, err := o.Reader(cmd.Name())
	if err != nil {
		return err
	}
	defer progress(cmd, "Reading the store ...")()
	store, err := o.open(cmd.Context(), reader, types.NamespacedName{Namespace: namespace, Name: name})
	if err != nil {
		return err
	}
	found, err := archives.List(cmd.Context(), store, namespace, name)
	if err != nil {
		return fmt.Errorf("list the archives: %w", err)
	}
	if o.format == "json" {
		encoder := json.NewEncoder(cmd.OutOrStdout())
		encoder.SetIndent("", "  ")
		return encoder.Encode(append([]archives.Archive{}, found...))
	}
	if len(found) == 0 {
		note(cmd.ErrOrStderr(), fmt.Sprintf("there is no archive of Workspace %s/%s in the store", namespace, name))
		return nil
	}
	return archivesTable(cmd.OutOrStdout(), found)
}

// open opens the store that the Workspace or --store names, with the Secret.
func (o *archivesOptions) open(ctx context.Context, reader client.Reader, name types.NamespacedName) (archive.Store, error) {
	secret := types.NamespacedName{Namespace: name.Namespace, Name: o.store}
	if secret.Name == "" {
		var ws v1alpha1.Workspace
		switch err := reader.Get(ctx, name, &ws); {
		case apierrors.IsNotFound(err):
			return nil, fmt.Errorf("workspace %s does not exist: name the Secret of its store with --store", name)
		case err != nil:
			return nil, fmt.Errorf("read Workspace %s: %w", name, err)
		case ws.Spec.Archive == nil:
			return nil, fmt.Errorf("workspace %s has no spec.archive, so it has no archives; for those of an earlier one use --store", name)
		}
		secret.Name = ws.Spec.Archive.StoreRef.Name
	}
	var found corev1.Secret
	if err := reader.Get(ctx, secret, &found); err != nil {
		return nil, fmt.Errorf("read the Secret of the store: %w", err)
	}
	if len(found.Data[connect.Folder]) > 0 {
		return nil, errors.New("the store is a folder of the manager's own machine, which only the manager can read")
	}
	store, err := connect.Open(found.Data, connect.Options{Endpoints: endpoints.Local})
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", secret, err)
	}
	return store, nil
}

func archivesTable(out io.Writer, found []archives.Archive) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TIME\tBYTES\tKEPT\tENCRYPTED\tKEY\tDIGEST")
	for _, each := range found {
		kept := "no"
		if each.Kept {
			kept = "yes"
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\n", each.Time.Format(time.RFC3339), each.SizeBytes, kept, cmp.Or(each.EncryptedFor, "no"), each.Key, each.SHA256)
	}
	return table.Flush()
}
