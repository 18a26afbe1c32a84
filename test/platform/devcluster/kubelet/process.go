package kubelet

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// markVariable is in the environment of every process of a container, with the container's folder as its
// value: by it they are found wherever they went, also by a later devcluster.
const markVariable = "DEVCLUSTER_CONTAINER"

// command is what a container runs, with everything already in terms of this machine.
type command struct {
	argv, env []string
	dir       string
	// folder is the container's own.
	folder string
	// run is how often it was started before.
	run int32
	// inside are its mounts.
	inside paths
	// termination is the file of the container's termination message; fallback takes the log's end in its place.
	termination string
	fallback    bool
}

func (c command) log() string { return logFile(c.folder, c.run) }
func (c command) pid() string { return c.folder + ".pid" }

// run is one life of a container: a process group.
type run struct {
	started, finished time.Time // finished: read after done
	pid               int
	done              chan struct{}
	end               corev1.ContainerStateTerminated // read after done

	lock   sync.Mutex
	killed bool // by this kubelet
	ready  bool
}

// start runs the command; a command that cannot be started is a run that has ended, as in a real kubelet.
// ended is called after the end.
func start(c command, ended func()) *run {
	r := &run{started: time.Now(), done: make(chan struct{})}
	begun := make(chan error, 1)
	go func() {
		defer ended()
		defer close(r.done)
		runtime.LockOSThread() // the kernel kills the child with the thread that started it, so it has to stay
		cmd, err := c.start()
		if err != nil {
			r.end = r.terminated(128, "StartError", err.Error(), c)
			begun <- err
			return
		}
		r.pid = cmd.Process.Pid
		begun <- os.WriteFile(c.pid(), []byte(strconv.Itoa(r.pid)), 0o600)
		_ = cmd.Wait()
		// What the process left behind ends with it.
		_ = syscall.Kill(-r.pid, syscall.SIGKILL)
		killMarked(func(folder string) bool { return folder == c.folder })
		_ = os.Remove(c.pid())
		code, reason := r.verdict(cmd.ProcessState.Sys().(syscall.WaitStatus))
		r.end = r.terminated(code, reason, terminationMessage(c, code), c)
	}()
	<-begun
	return r
}

// start begins the process.
func (c command) start() (*exec.Cmd, error) {
	for _, dir := range []string{c.folder, c.dir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	log, err := os.OpenFile(c.log(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if err := os.WriteFile(c.termination, nil, 0o666); err != nil {
		return nil, err
	}
	if len(c.argv) == 0 {
		return nil, fmt.Errorf("no command specified: an image host://NAME without a path needs a command")
	}
	cmd := &exec.Cmd{Path: c.argv[0], Args: c.argv, Env: c.env, Dir: c.dir, Stdout: log, Stderr: log,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}}
	if filepath.Base(cmd.Path) == cmd.Path {
		if cmd.Path, err = exec.LookPath(cmd.Path); err != nil {
			return nil, err
		}
	}
	return cmd, cmd.Start()
}

// verdict turns how the process ended into exit code and reason. A SIGKILL from elsewhere counts as the
// kernel's for want of memory: so a test can have that too.
func (r *run) verdict(status syscall.WaitStatus) (code int32, reason string) {
	r.lock.Lock()
	defer r.lock.Unlock()
	switch {
	case status.Signaled() && status.Signal() == syscall.SIGKILL && !r.killed:
		return 137, "OOMKilled"
	case status.Signaled():
		return 128 + int32(status.Signal()), "Error"
	case status.ExitStatus() == 0:
		return 0, "Completed"
	}
	return int32(status.ExitStatus()), "Error"
}

func (r *run) terminated(code int32, reason, message string, c command) corev1.ContainerStateTerminated {
	r.finished = time.Now()
	return corev1.ContainerStateTerminated{
		ExitCode: code, Reason: reason, Message: message, StartedAt: seconds(r.started), FinishedAt: seconds(r.finished),
		ContainerID: containerID(c.folder),
	}
}

// seconds is a time as the API keeps it: a status is written once and then found unchanged.
func seconds(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }

// signal sends to all of the container.
func (r *run) signal(signal syscall.Signal) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if r.pid == 0 || r.ended() {
		return
	}
	r.killed = r.killed || signal == syscall.SIGKILL
	_ = syscall.Kill(-r.pid, signal) // it may have ended by itself
}

func (r *run) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func (r *run) setReady(ready bool) (changed bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	changed = r.ready != ready
	r.ready = ready
	return changed
}

func (r *run) isReady() bool {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.ready && !r.ended()
}
