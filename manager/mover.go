package manager

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/buildinfo"
)

const (
	// progressInterval is the default interval between progress reports.
	progressInterval = 10 * time.Second
	// noteTimeout bounds the write of a progress note to the store.
	noteTimeout = 10 * time.Second
)

// moverOptions are the flags of both movers.
type moverOptions struct {
	ticket         string
	identities     string
	terminationLog string
	every          time.Duration
	job            mover.Job
}

func newMoverCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:   "mover",
		Short: "Move a workspace's home between its volume and the archive; Kyklos runs it in Jobs",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() }, // without RunE, Args is ignored
	}
	parent.AddCommand(newArchiveCommand(), newRestoreCommand(), newHomeCheckCommand())
	return parent
}

func newArchiveCommand() *cobra.Command {
	options := moverOptions{}
	command := options.command("archive", "Archive the home of a volume", mover.Archive)
	flags := command.Flags()
	flags.Int64Var(&options.job.Epoch, "epoch", 0, "number of starts of the workspace on the volume; written to the archive's marker")
	flags.StringVar(&options.job.RestoredFrom, "restored-from", "", "archive that the home was restored from, if from any; another home is refused")
	flags.StringVar(&options.job.Workspace, "workspace", "", "the workspace's NAMESPACE/NAME; written to the archive's marker")
	return command
}

func newRestoreCommand() *cobra.Command {
	options := moverOptions{}
	command := options.command("restore", "Restore an archived home to a volume", mover.Restore)
	flags := command.Flags()
	flags.StringVar(&options.job.Operation, "operation", "", "id of the restoring operation")
	flags.StringVar(&options.job.SHA256, "sha256", "", "expected SHA-256 sum of the archive, 64 hexadecimal digits; empty uses that of its marker")
	_ = command.MarkFlagRequired("operation")
	return command
}

func (o *moverOptions) command(use, short string, move func(context.Context, mover.Job) (mover.Result, error)) *cobra.Command {
	command := &cobra.Command{
		Use:   use,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), cmd.ErrOrStderr(), move)
		},
	}
	o.bind(command.Flags())
	for _, name := range []string{"ticket", "volume", "volume-uid"} {
		_ = command.MarkFlagRequired(name)
	}
	return command
}

func (o *moverOptions) bind(flags *pflag.FlagSet) {
	flags.StringVar(&o.ticket, "ticket", "", "file with the ticket, which grants access to one archive in the store")
	flags.StringVar(&o.identities, "identities", "", "file with the secret keys of age that open encrypted archives, one a line; it need not exist")
	flags.StringVar(&o.terminationLog, "termination-log", "/dev/termination-log", "file to write the result to, as JSON; empty for none")
	flags.DurationVar(&o.every, "progress-every", progressInterval, "interval between progress reports, in the log and in the store")
	flags.StringVar(&o.job.Volume, "volume", "", "mount path of the volume; the home is its folder home")
	flags.StringVar(&o.job.VolumeUID, "volume-uid", "", "UID of the PersistentVolumeClaim")
}

// run moves the home and writes the result to the termination log. The run fails if that cannot be written: the result
// would be unknown.
func (o *moverOptions) run(ctx context.Context, out io.Writer, move func(context.Context, mover.Job) (mover.Result, error)) error {
	if o.every <= 0 {
		return fmt.Errorf("--progress-every: must be above 0, not %s", o.every)
	}
	ticket, err := mover.ReadTicket(o.ticket)
	if err != nil {
		return err
	}
	if o.job.Store, o.job.Key, err = mover.Open(ticket); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(out, nil)).With("key", o.job.Key.Data())
	o.job.Version = buildinfo.Version()
	o.job.Recipients = ticket.Recipients
	started := time.Now()
	stop := o.job.Watch(ctx, o.every, progressReporter(log, mover.Noter(ticket, o.job.Store)))
	result, failed := mover.Result{}, error(nil)
	if o.job.Identities, failed = mover.ReadIdentities(o.identities); failed == nil {
		result, failed = move(ctx, o.job)
	}
	stop()
	if failed != nil {
		result = mover.Failed(o.job.Key, failed)
	}
	text := result.JSON()
	log.Info("ended", "code", result.Code, "seconds", int(time.Since(started).Seconds()), "result", string(text))
	if text := result.LeftOutText(); text != "" {
		log.Warn("left out", "what", text)
	}
	if o.terminationLog != "" {
		if err := os.WriteFile(o.terminationLog, text, 0o644); err != nil {
			return fmt.Errorf("write the result %s: %w", text, err)
		}
	}
	return failed
}

// progressReporter reports progress in the log and by a note in the store: the mover has no permission to write to the
// cluster. A note that cannot be written is logged once.
func progressReporter(log *slog.Logger, note func(context.Context, archive.Progress) error) func(context.Context, archive.Progress) {
	failed := false
	return func(ctx context.Context, progress archive.Progress) {
		log.Info(string(progress.Step), "entries", progress.Entries, "bytes", progress.Bytes, "ofEntries", progress.OfEntries, "ofBytes", progress.OfBytes)
		if note == nil {
			return
		}
		bounded, cancel := context.WithTimeout(ctx, noteTimeout)
		defer cancel()
		err := note(bounded, progress)
		if err != nil && !failed && ctx.Err() == nil {
			log.Info("Cannot write progress to the store; the Workspace's status may not show it", "reason", err.Error())
			failed = true
		}
	}
}
