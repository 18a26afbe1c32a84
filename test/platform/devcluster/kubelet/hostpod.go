package kubelet

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
)

// hostPod is what is known of one pod. Its calls never overlap, as those of a Runtime.
type hostPod struct {
	uid     types.UID
	dir     string
	changed func()
	// volumes are the pod's on this machine; nil until all are there.
	volumes    map[string]string
	containers map[string]*container
	// kill is when patience with a stopping pod ends; zero while it is not stopping.
	kill time.Time
	// sidecarsEnd: the sidecars were asked to end.
	sidecarsEnd bool
}

// container is what is known of one container.
type container struct {
	run      *run
	last     *corev1.ContainerStateTerminated // the end of the run before
	restarts int32
	waiting  corev1.ContainerStateWaiting // why there is no run yet
}

// newHostPod starts from the status that an earlier devcluster reported.
func newHostPod(pod *corev1.Pod, dir string) *hostPod {
	h := &hostPod{uid: pod.UID, dir: dir, containers: map[string]*container{}}
	for _, c := range all(pod) {
		h.containers[c.Name] = &container{waiting: corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}
	}
	for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		known, wanted := h.containers[status.Name]
		if !wanted {
			continue
		}
		known.restarts, known.last = status.RestartCount, status.LastTerminationState.Terminated
		switch {
		case status.State.Terminated != nil:
			known.run = over(*status.State.Terminated)
		case status.State.Running != nil:
			known.run = over(corev1.ContainerStateTerminated{
				ExitCode: 137, Reason: "ContainerStatusUnknown", Message: "the node ended while the container ran",
				StartedAt: status.State.Running.StartedAt, FinishedAt: status.State.Running.StartedAt, ContainerID: status.ContainerID,
			})
		case known.last != nil: // it was waiting for its next start
			known.run, known.last = over(*known.last), nil
		}
	}
	return h
}

// over is a run that ended in an earlier devcluster.
func over(end corev1.ContainerStateTerminated) *run {
	r := &run{started: end.StartedAt.Time, finished: end.FinishedAt.Time, done: make(chan struct{}), end: end}
	close(r.done)
	return r
}

// all are the pod's containers in the order of their start.
func all(pod *corev1.Pod) []corev1.Container {
	return append(append([]corev1.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...)
}

func (h *hostPod) volumesFolder() string { return filepath.Join(h.dir, "volumes") }

func (h *hostPod) signal(signal syscall.Signal) {
	for _, c := range h.containers {
		if c.run != nil {
			c.run.signal(signal)
		}
	}
}

func (h *hostPod) wait() {
	for _, c := range h.containers {
		if c.run != nil {
			<-c.run.done
		}
	}
}

// stop sends SIGTERM first and SIGKILL after the grace, and reports whether nothing runs any more. A later
// call may shorten the grace and never lengthens it.
func (h *hostPod) stop(pod *corev1.Pod, now time.Time, grace time.Duration) (gone bool) {
	switch {
	case pod == nil || grace <= 0: // it is killed
	case h.kill.IsZero():
		h.signalOthers(pod, syscall.SIGTERM)
		fallthrough
	default:
		h.endSidecars(func(own *container, _ *corev1.Container) bool { return own.run == nil || own.run.ended() }, pod)
	}
	if end := now.Add(grace); h.kill.IsZero() || end.Before(h.kill) {
		h.kill = end
	}
	if !now.Before(h.kill) {
		h.signal(syscall.SIGKILL)
	}
	for _, c := range h.containers {
		if c.run != nil && !c.run.ended() {
			return false
		}
	}
	return true
}

// startDue starts every container whose turn it is and returns when to come again, if something is not
// due yet; an end reports itself.
func (h *hostPod) startDue(pod *corev1.Pod, now time.Time, command func(*corev1.Container) (command, error)) (again time.Duration) {
	for i, c := range all(pod) {
		initial := i < len(pod.Spec.InitContainers)
		own := h.containers[c.Name]
		if own.run == nil || own.run.ended() && !(h.sidecarsEnd && initial) && restarts(pod, &c, initial, own.run.end.ExitCode) {
			if wait := own.due(now); wait > 0 {
				again = sooner(again, wait)
			} else if !h.start(&c, own, command) {
				again = sooner(again, pollInterval)
			}
		}
		if initial && !succeeded(own.run) && (!isSidecar(&c) || own.run == nil) {
			break // the next one waits for it
		}
	}
	h.endSidecars(func(own *container, c *corev1.Container) bool {
		return own.run != nil && own.run.ended() && !restarts(pod, c, false, own.run.end.ExitCode)
	}, pod)
	return again
}

func succeeded(r *run) bool { return r != nil && r.ended() && r.end.ExitCode == 0 }

// sooner is the shorter time; 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// due is how long the container has to wait for its next start.
func (c *container) due(now time.Time) time.Duration {
	if c.run == nil {
		return 0
	}
	wait := min(firstBackoff<<min(c.restarts, 10), maxBackoff)
	return c.run.finished.Add(wait).Sub(now)
}

// start starts the container, or notes what it waits for.
func (h *hostPod) start(c *corev1.Container, own *container, command func(*corev1.Container) (command, error)) (started bool) {
	if err := pulled(c.Image); err != nil {
		own.waiting = corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: err.Error()}
		return false
	}
	made, err := command(c)
	if err != nil {
		own.waiting = corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: err.Error()}
		return false
	}
	if own.run != nil {
		own.last = &own.run.end
		own.restarts++
	}
	made.run = own.restarts
	own.run = start(made, h.changed)
	if c.ReadinessProbe == nil {
		own.run.setReady(true)
	} else {
		go probe(c, made, own.run, h.changed)
	}
	return true
}

// pulled checks that the image's file exists.
func pulled(image string) error {
	path, ok := strings.CutPrefix(image, HostImage)
	if !ok {
		return fmt.Errorf("image %q: all images of a pod begin with %s, or none", image, HostImage)
	}
	if !filepath.IsAbs(path) {
		return nil
	}
	info, err := os.Stat(path)
	if err == nil && (info.IsDir() || info.Mode().Perm()&0o111 == 0) {
		err = errors.New("it is not an executable file")
	}
	if err != nil {
		return fmt.Errorf("image %q: %w", image, err)
	}
	return nil
}

// argv is the container's command line: its command, else the image's path, and its arguments.
func argv(c *corev1.Container, env map[string]string, inside paths) []string {
	line := append(append([]string{}, c.Command...), c.Args...)
	for i := range line {
		line[i] = inside.host(expansion.Expand(line[i], expansion.MappingFuncFor(env)))
	}
	if path := strings.TrimPrefix(c.Image, HostImage); len(c.Command) == 0 && filepath.IsAbs(path) {
		line = append([]string{path}, line...)
	}
	if len(c.Command) == 0 && !filepath.IsAbs(strings.TrimPrefix(c.Image, HostImage)) {
		return nil // arguments alone are not a command
	}
	return line
}

// restarts reports whether a container that ended so is started again. An init container that succeeded is
// done, whatever the policy.
func restarts(pod *corev1.Pod, c *corev1.Container, initial bool, code int32) bool {
	if initial && isSidecar(c) {
		return true
	}
	switch pod.Spec.RestartPolicy {
	case corev1.RestartPolicyNever:
		return false
	case corev1.RestartPolicyOnFailure:
		return code != 0
	}
	return !initial || code != 0
}
