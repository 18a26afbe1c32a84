package cli

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/cli/workspaces"
)

type openOptions struct {
	stateOptions
	port, localPort int
	print           bool
}

func newOpenCommand() *cobra.Command {
	var options openOptions
	cmd := &cobra.Command{
		Use:   "open NAME",
		Short: "Start a Workspace and open it in the browser",
		Long: `Start a Workspace if it does not run, wait, forward a port of this machine to it, and open that in the browser. The
port is forwarded until Ctrl-C, through the API server and with your own rights, as by kubectl port-forward: the role
edit is enough. Neither an Ingress nor a login of the program is needed.

A connection that is lost while the Workspace is to run is made again. The exit code is 1 if the Workspace does not start,
or is stopped: the message says by whom, and the same command starts it again.`,
		Example: `  # Open a Workspace in the browser
  kyklos workspace open ann -n team

  # Only print the address, here of an sshd in a Workspace
  kyklos workspace open ann -n team --port 2222 --print`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeWorkspaces,
		RunE:              func(cmd *cobra.Command, names []string) error { return options.run(cmd, names[0]) },
	}
	options.bind(cmd)
	cmd.Flags().IntVar(&options.port, "port", 0, "port of the Workspace; 0 is the first of spec.ports")
	cmd.Flags().IntVar(&options.localPort, "local-port", 0, "port of this machine; 0 is the same as that of the Workspace if it is free, otherwise any")
	cmd.Flags().BoolVar(&options.print, "print", false, "print the address and open no browser")
	return cmd
}

func (o *openOptions) run(cmd *cobra.Command, name string) error {
	for flag, port := range map[string]int{"port": o.port, "local-port": o.localPort} {
		if port < 0 || port > 65535 {
			return fmt.Errorf("--%s: must be from 0 to 65535, not %d", flag, port)
		}
	}
	way, err := o.begin(cmd, name)
	if err != nil {
		return err
	}
	ws, err := way.to(v1alpha1.DesiredRunning, true)
	if err != nil {
		return err
	}
	remote := o.port
	if remote == 0 {
		if len(ws.Spec.Ports) == 0 {
			return fmt.Errorf("--port is needed: spec.ports of Workspace %s is empty", way.key)
		}
		remote = int(ws.Spec.Ports[0])
	}
	tunnel := &tunnel{way: way, ws: ws, local: cmp.Or(o.localPort, workspaces.LocalPort(cmd.Context(), remote)), remote: remote}
	tunnel.opened = func(port int) { o.opened(cmd, workspaces.URL(port), ws) }
	return tunnel.run()
}

// opened tells where the Workspace is, and opens it.
func (o *openOptions) opened(cmd *cobra.Command, url string, ws *v1alpha1.Workspace) {
	fmt.Fprintln(cmd.OutOrStdout(), url)
	note(cmd.ErrOrStderr(), fmt.Sprintf("forwarded to Workspace %s until Ctrl-C", ws.Name))
	if o.print {
		return
	}
	if err := browse(cmd.Context(), url); err != nil {
		note(cmd.ErrOrStderr(), fmt.Sprintf("no browser was opened: %v", err))
	}
}

// browse opens a URL with the desktop's program for it.
func browse(ctx context.Context, url string) error {
	command := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open", url}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	}
	opener := exec.CommandContext(context.WithoutCancel(ctx), command[0], command[1:]...)
	if err := opener.Start(); err != nil {
		return err
	}
	go func() { _ = opener.Wait() }()
	return nil
}
