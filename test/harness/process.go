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

// process is a child process that several goroutines can wait for, and that ends with this program.
type process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error // of Wait; read after done
}

func startProcess(cmd *exec.Cmd) (*process, error) {
	// In a group of its own it gets no Ctrl-C from the terminal. This program stops its children in the right order.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // Pdeathsig is sent when the thread that started the child ends
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

// stop sends the signal and waits. It kills a process that takes longer than patience, and returns an error.
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
