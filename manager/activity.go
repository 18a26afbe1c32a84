package manager

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/internal/activity"
)

const (
	// sampleInterval is the longest time between two looks.
	sampleInterval = 5 * time.Second
	// staleState is the age at which a state says nothing any more: its writer hangs.
	staleState = time.Minute
)

func newActivityCommand() *cobra.Command {
	parent := &cobra.Command{
		Use:   "activity",
		Short: "Watch whether a workspace is used; Kyklos runs it beside each",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() }, // without RunE, Args is ignored
	}
	parent.AddCommand(newWatchCommand(), newCheckCommand())
	return parent
}

// watchOptions are the flags of activity watch.
type watchOptions struct {
	ports []uint
	state string
	// terminationLog is the file for what the end of a run says.
	terminationLog string
	watch          activity.Watch
}

func newWatchCommand() *cobra.Command {
	var options watchOptions
	command := &cobra.Command{
		Use:   "watch",
		Short: "Write to a file whether the workspace is used, until SIGTERM or SIGINT",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := options.complete(); err != nil {
				return err
			}
			return options.run(cmd.Context(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.UintSliceVar(&options.ports, "ports", nil, "TCP ports: while somebody is connected to one of them, the workspace is in use")
	flags.IntVar(&options.watch.CPUPercent, "cpu-percent", 0, "while all processes need more than this percentage of one CPU, the workspace is in use; 0 ignores CPU")
	flags.DurationVar(&options.watch.Lasts, "use-lasts", 5*time.Minute, "how long a use counts after its end")
	flags.DurationVar(&options.watch.IgnoreShorter, "ignore-shorter", 10*time.Second, "ignore connections that are shorter, such as those of probes")
	flags.IntVar(&options.watch.Probes, "probes", 0, "how many connections a minute the kubelet's own probes make; more of one client in a row are use, however short they are")
	flags.StringVar(&options.state, "state", "", "file for the result, which must stay between two runs")
	flags.StringVar(&options.terminationLog, "termination-log", "", "file for a message about the end: a run ends when the workspace is idle, and when programs begin or cease to listen on the ports; empty writes none")
	_ = command.MarkFlagRequired("state")
	return command
}

func newCheckCommand() *cobra.Command {
	var state string
	command := &cobra.Command{
		Use:   "check",
		Short: "Succeed if the workspace is used, as a readiness probe",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return checkState(state, time.Now()) },
	}
	command.Flags().StringVar(&state, "state", "", "file with the result of activity watch")
	_ = command.MarkFlagRequired("state")
	return command
}

func (o *watchOptions) complete() error {
	for _, port := range o.ports {
		if port < 1 || port > 65535 {
			return fmt.Errorf("--ports: must be from 1 to 65535, not %d", port)
		}
		o.watch.Ports = append(o.watch.Ports, uint16(port))
	}
	switch {
	case o.watch.CPUPercent < 0:
		return fmt.Errorf("--cpu-percent: must be 0 or more, not %d", o.watch.CPUPercent)
	case o.watch.Lasts <= 0:
		return fmt.Errorf("--use-lasts: must be above 0s, not %s", o.watch.Lasts)
	case o.watch.Probes < 0:
		return fmt.Errorf("--probes: must be 0 or more, not %d", o.watch.Probes)
	}
	return nil
}

// run writes the state now and at each interval. If something cannot be read, the workspace does not become idle: it must not be
// stopped for that.
func (o *watchOptions) run(ctx context.Context, out io.Writer) error {
	file, err := os.OpenFile(o.state, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	defer func() { _ = file.Close() }()
	before, err := io.ReadAll(io.LimitReader(file, 16))
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	o.watch.First, o.watch.State = len(before) == 0, stateOf(before)
	begin, last := time.Now(), activity.State("")
	ticks := time.NewTicker(max(min(o.watch.Lasts/20, sampleInterval), 100*time.Millisecond))
	defer ticks.Stop()
	for {
		at := time.Since(begin)
		state, ends := o.look(at, out)
		if state != last {
			_, _ = fmt.Fprintln(out, state)
		}
		if last = state; ends {
			return errors.Join(o.say(o.watch.Word(at)), write(file, state))
		}
		if state == activity.Silent { // what a crash lets go unsaid is said again
			state = activity.Used
		}
		if err := write(file, state); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

// write replaces the state in the file at once: all have the same length there.
func write(file *os.File, state activity.State) error {
	if _, err := file.WriteAt(fmt.Appendf(nil, "%-6s\n", state), 0); err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	return nil
}

func stateOf(text []byte) activity.State { return activity.State(bytes.TrimSpace(text)) }

// say writes what the end of this run says.
func (o *watchOptions) say(word activity.Word) error {
	if o.terminationLog == "" {
		return nil
	}
	if err := os.WriteFile(o.terminationLog, []byte(word.String()), 0o666); err != nil {
		return fmt.Errorf("--termination-log: %w", err)
	}
	return nil
}

// look returns the state, and whether this run ends to say so.
func (o *watchOptions) look(at time.Duration, out io.Writer) (state activity.State, ends bool) {
	sample, err := o.sample(at)
	if err != nil {
		_, _ = fmt.Fprintf(out, "Cannot see whether the workspace is used: %v\n", err)
		return o.watch.Blind(at), false
	}
	return o.watch.Look(sample)
}

func (o *watchOptions) sample(at time.Duration) (activity.Sample, error) {
	sample := activity.Sample{At: at}
	var err error
	if len(o.watch.Ports) > 0 {
		if sample.Sockets, err = sockets(o.watch.Ports...); err != nil {
			return sample, err
		}
	}
	if o.watch.CPUPercent > 0 {
		sample.CPU, err = activity.CPU(os.DirFS("/proc"), os.Getpid())
	}
	return sample, err
}

// sockets reads the kernel's tables, which are those of the pod.
func sockets(ports ...uint16) (all []activity.Socket, err error) {
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) && name != "/proc/net/tcp" {
			continue // a kernel without IPv6
		}
		if err != nil {
			return nil, err
		}
		found, err := activity.Sockets(table, ports...)
		_ = table.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

// checkState fails if the state is not that of a workspace in use, or is old.
func checkState(path string, now time.Time) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("--state: %w", err)
	}
	text, err := os.ReadFile(path)
	switch state := stateOf(text); {
	case err != nil:
		return fmt.Errorf("--state: %w", err)
	case now.Sub(info.ModTime()) > staleState:
		return fmt.Errorf("nothing has been known since %s", info.ModTime().Format(time.RFC3339))
	case state != activity.Used && state != activity.Silent:
		return errors.New("the workspace is idle")
	}
	return nil
}
