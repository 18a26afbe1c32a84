package manager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kyklos.io/kyklos/internal/activity"
	"kyklos.io/kyklos/internal/kubeconfig"
)

// heartbeatTimeout bounds one write of the Lease.
const heartbeatTimeout = 10 * time.Second

// heartbeatOptions are the flags of heartbeat.
type heartbeatOptions struct {
	kubeconfig.Flags
	workspace, holder string

	every       time.Duration
	connections uint16
	files       []string
}

func newHeartbeatCommand() *cobra.Command {
	options := heartbeatOptions{every: 30 * time.Second}
	cmd := &cobra.Command{
		Use:   "heartbeat",
		Short: "Report that a workspace is in use, so that it is not stopped as idle",
		Long: `Report that a workspace is in use by renewing the Lease ws-WORKSPACE-activity, until SIGTERM or SIGINT.
Without a condition it is in use as long as this command runs; with conditions, while one of them is true.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			sender, err := options.sender(slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)))
			if err != nil {
				return err
			}
			return sender.run(cmd.Context(), options.every)
		},
	}
	flags := cmd.Flags()
	options.Bind(flags)
	flags.StringVar(&options.workspace, "workspace", "", "name of the workspace")
	flags.StringVar(&options.holder, "holder", "kyklos-heartbeat", "holder identity in the Lease")
	flags.DurationVar(&options.every, "every", options.every, "interval between heartbeats, or between checks of the conditions; 0 sends one heartbeat and exits")
	flags.Uint16Var(&options.connections, "while-connections", 0, "condition: a client is connected to this TCP port of the pod that this command runs in")
	flags.StringSliceVar(&options.files, "while-file-newer", nil, "condition: this file has been written since the last heartbeat; separate several by commas")
	_ = cmd.MarkFlagRequired("workspace")
	return cmd
}

// heartbeatSender sends heartbeats while the workspace is in use.
type heartbeatSender struct {
	// send reports that the workspace was used at a time.
	send func(ctx context.Context, at time.Time) error
	// used returns when the workspace was last used after a time; zero if it was not.
	used func(after time.Time) (time.Time, error)
	log  *slog.Logger
	last time.Time
}

func (o heartbeatOptions) sender(log *slog.Logger) (*heartbeatSender, error) {
	config, namespace, err := o.Connect("heartbeat")
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("create an API server client: %w", err)
	}
	leases := client.CoordinationV1().Leases(namespace)
	send := func(ctx context.Context, at time.Time) error {
		ctx, cancel := context.WithTimeout(ctx, heartbeatTimeout)
		defer cancel()
		_, err := leases.Apply(ctx, activity.Beat(namespace, o.workspace, o.holder, at), metav1.ApplyOptions{FieldManager: "kyklos-heartbeat", Force: true})
		return err
	}
	return &heartbeatSender{send: send, used: o.used, log: log}, nil
}

// run sends one heartbeat if every is 0, and otherwise continues until ctx ends, even if heartbeats fail: the API server
// may be unavailable.
func (h *heartbeatSender) run(ctx context.Context, every time.Duration) error {
	if every < 0 {
		return fmt.Errorf("--every: must be at least 0s, not %s", every)
	}
	if every == 0 {
		return h.once(ctx)
	}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		if err := h.once(ctx); err != nil && ctx.Err() == nil {
			h.log.Error("Heartbeat failed; retrying", "error", err, "in", every)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

func (h *heartbeatSender) once(ctx context.Context) error {
	at, err := h.used(h.last)
	if err != nil || at.IsZero() || at.Equal(h.last) {
		return err
	}
	if err := h.send(ctx, at); err != nil {
		return fmt.Errorf("renew the activity Lease: %w", err)
	}
	h.last = at
	return nil
}

// used evaluates the conditions. Without any, the workspace is in use now. If after is in the future, the clock was set
// back since, and the time of a file does not matter.
func (o heartbeatOptions) used(after time.Time) (last time.Time, err error) {
	if o.connections == 0 && len(o.files) == 0 {
		return time.Now(), nil
	}
	if o.connections != 0 {
		connected, err := isConnected(o.connections)
		if err != nil || connected {
			return time.Now(), err
		}
	}
	for _, name := range o.files {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // not written yet
		}
		if err != nil {
			return time.Time{}, fmt.Errorf("--while-file-newer: %w", err)
		}
		newer := info.ModTime().After(after) || after.After(time.Now())
		if written := info.ModTime(); newer && written.After(last) {
			last = written
		}
	}
	return last, nil
}

// isConnected reports whether somebody is connected to a port of the pod.
func isConnected(port uint16) (bool, error) {
	all, err := sockets(port)
	if err != nil {
		return false, fmt.Errorf("--while-connections: %w", err)
	}
	return slices.ContainsFunc(all, func(s activity.Socket) bool { return !s.Listens }), nil
}
