package manager

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"kyklos.io/kyklos/internal/activity"
	"kyklos.io/kyklos/internal/kubeconfig"
)

// beatTimeout bounds one write of the Lease.
const beatTimeout = 10 * time.Second

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
		Short: "Tell Kyklos that a workspace is in use, so that it is not stopped as idle",
		Long: `Tell Kyklos that a workspace is in use, by renewing the Lease ws-WORKSPACE-activity, until SIGTERM
or SIGINT. Without a condition it is in use as long as this runs; with conditions, while one of them holds.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			heart, err := options.heart(slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)))
			if err != nil {
				return err
			}
			return heart.run(cmd.Context(), options.every)
		},
	}
	flags := cmd.Flags()
	options.Bind(flags)
	flags.StringVar(&options.workspace, "workspace", "", "name of the workspace")
	flags.StringVar(&options.holder, "holder", "kyklos-heartbeat", "who tells it, as the Lease's holder")
	flags.DurationVar(&options.every, "every", options.every, "time between two heartbeats, or two looks at the conditions; 0 tells it once")
	flags.Uint16Var(&options.connections, "while-connections", 0, "condition: somebody is connected to this TCP port of the pod that this runs in")
	flags.StringSliceVar(&options.files, "while-file-newer", nil, "condition: this file has been written since the last heartbeat; several are separated by commas")
	_ = cmd.MarkFlagRequired("workspace")
	return cmd
}

// heart beats while the workspace is in use.
type heart struct {
	// beat tells that the workspace was used at a time.
	beat func(ctx context.Context, at time.Time) error
	// used returns when the workspace was used last, after a time; zero if it was not.
	used func(after time.Time) (time.Time, error)
	log  *slog.Logger
	last time.Time
}

func (o heartbeatOptions) heart(log *slog.Logger) (*heart, error) {
	config, namespace, err := o.Connect("heartbeat")
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of the API server: %w", err)
	}
	leases := client.CoordinationV1().Leases(namespace)
	beat := func(ctx context.Context, at time.Time) error {
		ctx, cancel := context.WithTimeout(ctx, beatTimeout)
		defer cancel()
		_, err := leases.Apply(ctx, activity.Beat(namespace, o.workspace, o.holder, at), metav1.ApplyOptions{FieldManager: "kyklos-heartbeat", Force: true})
		return err
	}
	return &heart{beat: beat, used: o.used, log: log}, nil
}

// run beats once if every is 0, and otherwise until ctx ends, also when single beats fail: the API server
// may be away.
func (h *heart) run(ctx context.Context, every time.Duration) error {
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
			h.log.Error("No heartbeat; trying again", "error", err, "in", every)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
	}
}

func (h *heart) once(ctx context.Context) error {
	at, err := h.used(h.last)
	if err != nil || at.IsZero() || at.Equal(h.last) {
		return err
	}
	if err := h.beat(ctx, at); err != nil {
		return fmt.Errorf("renew the workspace's Lease: %w", err)
	}
	h.last = at
	return nil
}

// used looks at the conditions. Without any, the workspace is in use now. If after is yet to come, the clock was
// set back since, and it does not matter when a file was written.
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

// isConnected reads Linux' own tables, which are those of the pod.
func isConnected(port uint16) (bool, error) {
	connected := false
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.Open(name)
		if errors.Is(err, fs.ErrNotExist) && name != "/proc/net/tcp" {
			continue // a kernel without IPv6
		}
		if err != nil {
			return false, fmt.Errorf("--while-connections: %w", err)
		}
		count, err := activity.Connections(table, port)
		_ = table.Close()
		if err != nil {
			return false, fmt.Errorf("--while-connections: %s: %w", name, err)
		}
		connected = connected || count > 0
	}
	return connected, nil
}
