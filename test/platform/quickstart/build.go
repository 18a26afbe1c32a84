package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// build has make build a target, in folder. Its output goes to out. When ctx ends, make and what it runs are stopped.
func build(ctx context.Context, folder, target string, out io.Writer) error {
	cmd := exec.CommandContext(ctx, "make", "--no-print-directory", "-C", folder, target)
	cmd.Stdout, cmd.Stderr = out, out
	// A group of its own gets one signal, from here. At an interrupt go removes its temporary files.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = stopPatience
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("make %s: %w", target, err)
	}
	return nil
}

// job is a function that runs in the background.
type job struct {
	cancel context.CancelFunc
	done   chan struct{}
	err    error // read after done
}

func inBackground(ctx context.Context, run func(context.Context) error) *job {
	ctx, cancel := context.WithCancel(ctx)
	j := &job{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(j.done)
		j.err = run(ctx)
	}()
	return j
}

func (j *job) wait() error {
	<-j.done
	return j.err
}

func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

// stop cancels it and waits.
func (j *job) stop() {
	j.cancel()
	<-j.done
}
