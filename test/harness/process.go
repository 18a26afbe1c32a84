package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a child that can be waited for from more than one place, and that does not outlive
// this program.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait; read after done
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	// A group of its own: Ctrl-C in a terminal reaches this program alone, which then stops its
	// children in the right order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // Pdeathsig means the thread that starts the child, so it has to stay
		err := cmd.Start()
		started <- err
		if err == nil {
			p.err = cmd.Wait()
		}
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// stop sends the signal and waits; a process that takes longer than patience is killed, and that is
// an error.
func (p *process) stop(signal os.Signal, patience time.Duration) error {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.done
		return fmt.Errorf("%s did not stop within %s and was killed", p.cmd.Path, patience)
	}
}
