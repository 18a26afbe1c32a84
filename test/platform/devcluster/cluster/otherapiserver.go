package cluster

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// otherAPIServer is apiServer for another program than this one, such as the kube-apiserver of another minor version. It
// cannot take over the listener, only its port.
func otherAPIServer(dir *Dir, opts Options, listener net.Listener, etcdURL string) (func(context.Context) error, error) {
	args, err := apiServerArgs(dir, opts, etcdURL)
	if err != nil {
		return nil, err
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return nil, fmt.Errorf("free the API server's port: %w", err)
	}
	return func(ctx context.Context) error {
		cmd := exec.CommandContext(ctx, opts.APIServer, append(args, "--secure-port="+strconv.Itoa(port))...)
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // the log
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.WaitDelay = stopGrace / 2
		return cmd.Run()
	}, nil
}
