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
	// progressEvery is how often a running mover says how far it is, by default.
	progressEvery = 10 * time.Second
	// notePatience is how long a store may take to store a note.
	notePatience = 10 * time.Second
)

// moverOptions are the flags of both movers.
type moverOptions struct {
	ticket         string
	terminationLog string
	every          time.Duration
	job            mover.Job
}

func newMoverCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:   "mover",
		Short: "Move a workspace's home between its volume and the archive; Kyklos runs it in Jobs",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() }, // without it, Args would not be looked at
	}
	parent.AddCommand(newArchiveCommand(), newRestoreCommand())
	return parent
}

func newArchiveCommand() *cobra.Command {
	options := moverOptions{}
	command := options.command("archive", "Bring the home of a volume into the archive", mover.Archive)
	flags := command.Flags()
	flags.Int64Var(&options.job.Epoch, "epoch", 0, "how often the workspace was started on the volume; written to the archive's marker")
	flags.StringVar(&options.job.Workspace, "workspace", "", "the workspace's NAMESPACE/NAME; written to the archive's marker")
	return command
}

func newRestoreCommand() *cobra.Command {
	options := moverOptions{}
	command := options.command("restore", "Bring an archived home onto a volume", mover.Restore)
	flags := command.Flags()
	flags.StringVar(&options.job.Operation, "operation", "", "the id of the operation that restores")
	flags.StringVar(&options.job.SHA256, "sha256", "", "what the sum of the archive must be, 64 hexadecimal digits; empty: what its marker says")
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
	flags.StringVar(&o.ticket, "ticket", "", "file with the ticket: what of the store may be reached, and how")
	flags.StringVar(&o.terminationLog, "termination-log", "/dev/termination-log", "file to write the result to, as JSON; empty for none")
	flags.DurationVar(&o.every, "progress-every", progressEvery, "how often to say how far it is: in the log, and in the store for Kyklos")
	flags.StringVar(&o.job.Volume, "volume", "", "where the volume is mounted; the home is the folder home in it")
	flags.StringVar(&o.job.VolumeUID, "volume-uid", "", "UID of the PersistentVolumeClaim")
}

// run moves, and says in the termination log how it went. A log that cannot be written fails the
// run: without a word from it, nobody knows what it did.
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
	started := time.Now()
	stop := o.job.Watch(ctx, o.every, teller(log, mover.Noter(ticket, o.job.Store)))
	result, failed := move(ctx, o.job)
	stop()
	if failed != nil {
		result = mover.Failed(o.job.Key, failed)
	}
	text := result.JSON()
	log.Info("ended", "code", result.Code, "seconds", int(time.Since(started).Seconds()), "result", string(text))
	if o.terminationLog != "" {
		if err := os.WriteFile(o.terminationLog, text, 0o644); err != nil {
			return fmt.Errorf("the result %s could not be written: %w", text, err)
		}
	}
	return failed
}

// teller says how far a mover is, in its log and by a note in the store. Without the right to write to the
// cluster, the note is how the Workspace's status learns of it. One that cannot be written is said once.
func teller(log *slog.Logger, note func(context.Context, archive.Progress) error) func(context.Context, archive.Progress) {
	silent := false
	return func(ctx context.Context, progress archive.Progress) {
		log.Info(string(progress.Step), "entries", progress.Entries, "bytes", progress.Bytes, "ofEntries", progress.OfEntries, "ofBytes", progress.OfBytes)
		if note == nil {
			return
		}
		bounded, cancel := context.WithTimeout(ctx, notePatience)
		defer cancel()
		err := note(bounded, progress)
		if err != nil && !silent && ctx.Err() == nil {
			log.Info("The Workspace's status may not show how far this is", "reason", err.Error())
			silent = true
		}
	}
}
