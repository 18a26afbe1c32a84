package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"kyklos.io/kyklos/internal/archive/home"
	"kyklos.io/kyklos/internal/archive/mover"
)

// progressEvery is how often a running mover says how far it is.
const progressEvery = 10 * time.Second

// moverOptions are the flags of both movers.
type moverOptions struct {
	ticket         string
	terminationLog string
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
	flags.StringVar(&o.job.Volume, "volume", "", "where the volume is mounted; the home is the folder home in it")
	flags.StringVar(&o.job.VolumeUID, "volume-uid", "", "UID of the PersistentVolumeClaim")
}

// run moves, and says in the termination log how it went. A log that cannot be written fails the
// run: without a word from it, nobody knows what it did.
func (o *moverOptions) run(ctx context.Context, out io.Writer, move func(context.Context, mover.Job) (mover.Result, error)) error {
	ticket, err := mover.ReadTicket(o.ticket)
	if err != nil {
		return err
	}
	if o.job.Store, o.job.Key, err = mover.Open(ticket); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(out, nil)).With("key", o.job.Key.Data())
	o.job.Version = ownVersion()
	o.job.Report = (&progressLog{log: log, last: time.Now()}).report
	started := time.Now()
	result, failed := move(ctx, o.job)
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

// progressLog says every now and then how far a mover is.
type progressLog struct {
	log  *slog.Logger
	lock sync.Mutex
	last time.Time
}

func (p *progressLog) report(step string, progress home.Progress) {
	p.lock.Lock()
	defer p.lock.Unlock()
	now := time.Now()
	if now.Sub(p.last) < progressEvery {
		return
	}
	p.last = now
	p.log.Info(step, "entries", progress.Entries, "bytes", progress.Bytes)
}
