package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/cli/console"
	"kyklos.io/kyklos/cli/source"
	"kyklos.io/kyklos/cli/workspaces"
	"kyklos.io/kyklos/internal/kubeconfig"
)

// defaultWait is how long a command waits for a Workspace. Large homes take long to restore.
const defaultWait = 30 * time.Minute

// change is a command that sets a state.
type change struct {
	name, short, long, example string
	want                       v1alpha1.DesiredState
}

var changes = []change{
	{
		"start", "Start a Workspace and wait until it runs",
		"Start a Workspace: set spec.desiredState to RUNNING. An archived home is restored first.",
		"  # Start a Workspace\n  kyklos workspace start ann -n team", v1alpha1.DesiredRunning,
	},
	{
		"stop", "Stop a Workspace and wait until its Pod is gone",
		"Stop a Workspace: set spec.desiredState to STANDBY. Its home stays on the volume. A Workspace that is\narchived stays archived.",
		"  # Stop a Workspace, and do not wait\n  kyklos workspace stop ann -n team --no-wait", v1alpha1.DesiredStandby,
	},
	{
		"archive", "Archive the home of a Workspace and wait until its volume is gone",
		"Archive the home of a Workspace: set spec.desiredState to PENDING. It is stopped first. The volume is deleted once the archive is\nverified.",
		"  # Archive the home of a Workspace, and print the result as JSON\n  kyklos workspace archive ann -n team -o json", v1alpha1.DesiredPending,
	},
}

type stateOptions struct {
	kubeconfig.Flags
	wait, noWait bool
	timeout      time.Duration
	format       string
}

var stateFormats = []string{"text", "json"}

func newStateCommand(change change) *cobra.Command {
	options := stateOptions{format: "text"}
	cmd := &cobra.Command{
		Use:   change.name + " NAME",
		Short: change.short,
		Long: change.long + `

Progress is shown on standard error, and the end of the command does not end the operation. The exit code is 1 if the
Workspace does not reach the state, or not within --timeout. If a schedule sets the state too, a note says which, and
what it does next.`,
		Example:           change.example,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeWorkspaces,
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := checkChoice("output", options.format, stateFormats); err != nil {
				return err
			}
			way, err := options.begin(cmd, names[0])
			if err != nil {
				return err
			}
			ws, err := way.to(change.want, options.wait && !options.noWait)
			if err != nil {
				return err
			}
			return options.print(cmd, ws)
		},
	}
	options.bind(cmd)
	cmd.Flags().BoolVar(&options.wait, "wait", true, "wait until the state is reached")
	cmd.Flags().BoolVar(&options.noWait, "no-wait", false, "set the state and do not wait; the same as --wait=false")
	cmd.MarkFlagsMutuallyExclusive("wait", "no-wait")
	bindChoice(cmd, &options.format, "output", "o", "text or json", stateFormats)
	return cmd
}

func (o *stateOptions) bind(cmd *cobra.Command) {
	o.Bind(cmd.Flags())
	cmd.Flags().DurationVar(&o.timeout, "timeout", defaultWait, "how long to wait, such as 90s or 10m; 0 waits for ever")
}

// way is a command that takes a Workspace to a state.
type way struct {
	cmd     *cobra.Command
	client  workspaces.Client
	config  *rest.Config
	key     types.NamespacedName
	timeout time.Duration
}

func (o *stateOptions) begin(cmd *cobra.Command, name string) (*way, error) {
	if o.timeout < 0 {
		return nil, fmt.Errorf("--timeout: must not be negative, not %s", o.timeout)
	}
	cluster, config, namespace, err := o.Client("workspace-"+cmd.Name(), cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	return &way{cmd, workspaces.Client{WithWatch: cluster, Clock: clock.RealClock{}}, config, types.NamespacedName{Namespace: namespace, Name: name}, o.timeout}, nil
}

// to sets the state, and shows the way to it.
func (w *way) to(want v1alpha1.DesiredState, wait bool) (*v1alpha1.Workspace, error) {
	ctx := w.cmd.Context()
	ws, err := w.client.Get(ctx, w.key)
	if err != nil {
		return nil, err
	}
	if want == v1alpha1.DesiredPending && ws.Spec.Archive == nil {
		return nil, fmt.Errorf("workspace %s has no spec.archive, so its home cannot be archived: name a store there, or stop it", w.key)
	}
	if want == v1alpha1.DesiredStandby && ws.Spec.DesiredState == v1alpha1.DesiredPending && ws.Spec.Archive != nil {
		note(w.cmd.ErrOrStderr(), fmt.Sprintf("Workspace %s is archived or will be, and stays so: only kyklos workspace start restores its home", w.key))
		want = v1alpha1.DesiredPending
	}
	if ws, err = w.client.Desire(ctx, ws, want); err != nil {
		return nil, err
	}
	if scalers, err := source.Objects(ctx, w.client.WithWatch, w.key.Namespace, nil); err == nil { // only a note; not everybody may read them
		note(w.cmd.ErrOrStderr(), workspaces.Schedules(ws, want, scalers)...)
	}
	if !wait {
		return ws, nil
	}
	return w.follow(ws, want)
}

// follow shows the way to a state that is set.
func (w *way) follow(ws *v1alpha1.Workspace, want v1alpha1.DesiredState) (*v1alpha1.Workspace, error) {
	ctx := w.cmd.Context()
	if w.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.timeout)
		defer cancel()
	}
	steps := console.NewSteps(w.cmd.ErrOrStderr(), w.client.Clock)
	defer steps.Done()
	return w.client.Follow(ctx, ws, want, func(v workspaces.View) { steps.Show(v.Step, v.Percent, v.Text, v.Why) })
}

// print prints the Workspace at the end of the command.
func (o *stateOptions) print(cmd *cobra.Command, ws *v1alpha1.Workspace) error {
	out := cmd.OutOrStdout()
	if o.format == "json" {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(struct {
			Namespace    string                `json:"namespace"`
			Name         string                `json:"name"`
			DesiredState v1alpha1.DesiredState `json:"desiredState"`
			State        string                `json:"state"`
			Address      string                `json:"address,omitempty"`
			ArchiveKey   string                `json:"archiveKey,omitempty"`
		}{ws.Namespace, ws.Name, ws.Spec.DesiredState, ws.Status.DisplayState, ws.Status.Address, ws.Status.ArchiveKey})
	}
	text := fmt.Sprintf("workspace %s is %s", ws.Name, ws.Status.DisplayState)
	switch {
	case ws.Status.ObservedGeneration < ws.Generation || ws.Status.Phase != v1alpha1.Phase(ws.Spec.DesiredState):
		text = fmt.Sprintf("workspace %s is to be %s", ws.Name, ws.Spec.DesiredState)
	case ws.Status.Phase == v1alpha1.Phase(v1alpha1.DesiredRunning) && ws.Status.Address != "":
		text += " at " + ws.Status.Address
	}
	_, err := fmt.Fprintln(out, text)
	return err
}
