package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// HostImage begins the images of containers that are processes of this machine. host:///usr/bin/env is an
// image whose entrypoint is that file; of host://NAME without a path the container has to say the command.
const HostImage = "host://"

const (
	// pollInterval is how soon a pod is synced again that waits for something that sends no event.
	pollInterval = 100 * time.Millisecond
	// A container that ends too often is started again after firstBackoff, twice that and so on. A real
	// kubelet begins with 10 s and ends with 5 min, which a test would have to wait for.
	firstBackoff, maxBackoff = 250 * time.Millisecond, 10 * time.Second
)

// Processes is a Runtime whose containers are processes of this machine: the right command, arguments,
// environment, volumes, signals, exit codes and termination messages, without images and without isolation.
//
// The volumes are folders of this machine, and a process sees the machine's files. So that a container's
// paths mean the volumes, each path below a mount is turned into the folder's in command, arguments,
// environment (but PATH) and working folder; so is terminationMessagePath. A path that a program has from
// elsewhere is the machine's own. Users and groups, readOnly mounts, limits and network are not enforced:
// all runs as the user of devcluster, and a pod's address is 127.0.0.1. Liveness and startup probes,
// hooks and pulling from anywhere do not exist. An exec probe whose program is not on this machine runs the image's own file.
//
// Logs are in pods/NAMESPACE_NAME_UID/CONTAINER/RESTARTS.log and stay; CONTAINER.pid is there while it runs.
// Processes end with devcluster. A later devcluster in the same folder finds the containers that ran lost
// with the exit code 137, as after a node's power cut, and continues from there.
type Processes struct {
	dir     string
	sources sources
	changed func(types.NamespacedName)

	lock sync.Mutex
	pods map[types.NamespacedName]*hostPod
}

var _ Runtime = &Processes{}

// NewProcesses returns a Runtime that keeps its pods in dir, after it has killed what an earlier one left
// there. Close ends its own.
func NewProcesses(client kubernetes.Interface, dir string) (*Processes, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("making the pods' folder: %w", err)
	}
	p := &Processes{dir: dir, sources: sources{client: client}, changed: func(types.NamespacedName) {}, pods: map[types.NamespacedName]*hostPod{}}
	killMarked(p.owns)
	return p, nil
}

func (p *Processes) owns(folder string) bool { return strings.HasPrefix(folder, p.dir+"/") }

// Notify sets the function to call when a pod has something to report.
func (p *Processes) Notify(changed func(types.NamespacedName)) { p.changed = changed }

// Close kills every process and waits for their end.
func (p *Processes) Close() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, own := range p.pods {
		own.signal(syscall.SIGKILL)
	}
	for _, own := range p.pods {
		own.wait()
	}
	killMarked(p.owns)
}

// RunsOnHost reports whether the pod is one for Processes.
func RunsOnHost(pod *corev1.Pod) bool {
	return len(pod.Spec.Containers) > 0 && strings.HasPrefix(pod.Spec.Containers[0].Image, HostImage)
}

// known is what runs under the name, or nil.
func (p *Processes) known(name types.NamespacedName) *hostPod {
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.pods[name]
}

// folder is the pod's own.
func (p *Processes) folder(pod *corev1.Pod) string {
	return filepath.Join(p.dir, fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID))
}

// adopt makes a record of a pod that is new here.
func (p *Processes) adopt(name types.NamespacedName, pod *corev1.Pod) *hostPod {
	own := newHostPod(pod, p.folder(pod))
	own.changed = func() { p.changed(name) }
	p.lock.Lock()
	defer p.lock.Unlock()
	p.pods[name] = own
	return own
}

// Sync starts what has to run and reports what became of it.
func (p *Processes) Sync(ctx context.Context, pod *corev1.Pod, now time.Time) (corev1.PodStatus, time.Duration, error) {
	if terminal(pod.Status.Phase) {
		return pod.Status, 0, nil
	}
	name := types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}
	own := p.known(name)
	if own != nil && own.uid != pod.UID {
		if !own.stop(nil, now, 0) { // of an earlier pod, which was deleted by force
			return pod.Status, pollInterval, nil
		}
		if err := removeAll(own.volumesFolder()); err != nil {
			return pod.Status, 0, err
		}
		own = nil
	}
	if own == nil {
		own = p.adopt(name, pod)
	}
	over, left := deadline(pod, now)
	if over {
		gone := own.stop(pod, now, grace(pod))
		return own.overdue(pod, now, gone), again(gone), nil
	}
	status, wait, err := p.step(ctx, pod, own, now)
	return status, sooner(wait, left), err
}

// step prepares the pod and starts its containers.
func (p *Processes) step(ctx context.Context, pod *corev1.Pod, own *hostPod, now time.Time) (corev1.PodStatus, time.Duration, error) {
	if own.volumes == nil {
		volumes, err := p.sources.volumes(ctx, pod, own.volumesFolder())
		if errors.Is(err, errMount) {
			return own.held(pod, now, err.Error()), pollInterval, nil
		} else if err != nil {
			return pod.Status, 0, err
		}
		own.volumes = volumes
	}
	wait := own.startDue(pod, now, func(c *corev1.Container) (command, error) { return p.command(ctx, pod, c, own) })
	return own.status(pod, now), wait, nil
}

// command is what the container runs.
func (p *Processes) command(ctx context.Context, pod *corev1.Pod, c *corev1.Container, own *hostPod) (command, error) {
	env, err := p.sources.environment(ctx, pod, c)
	if err != nil {
		return command{}, err
	}
	mounts, err := mounts(c, own.volumes, env)
	if err != nil {
		return command{}, err
	}
	folder := filepath.Join(own.dir, c.Name)
	made := command{
		folder: folder, dir: filepath.Join(folder, "work"), termination: filepath.Join(folder, "termination-log"),
		fallback: c.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError,
	}
	inside := newPaths(append(mounts, mounted{inside: c.TerminationMessagePath, host: made.termination})...)
	made.inside, made.argv = inside, argv(c, env, inside)
	made.env = append(lines(env, inside), markVariable+"="+folder)
	if c.WorkingDir != "" {
		made.dir = inside.host(c.WorkingDir)
	}
	return made, nil
}

// Stop ends the pod's processes within its grace, or at once when it is gone from the API.
func (p *Processes) Stop(_ context.Context, name types.NamespacedName, pod *corev1.Pod, now time.Time) (corev1.PodStatus, bool, error) {
	own := p.known(name)
	if own == nil {
		if pod == nil || terminal(pod.Status.Phase) {
			return corev1.PodStatus{}, true, nil
		}
		own = p.adopt(name, pod)
	}
	if pod != nil && own.uid != pod.UID {
		return corev1.PodStatus{}, true, nil // it never began
	}
	if pod != nil {
		gone := own.stop(pod, now, grace(pod))
		return own.stopped(pod, now), gone, nil
	}
	if !own.stop(nil, now, 0) {
		return corev1.PodStatus{}, false, nil
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	delete(p.pods, name)
	// Secrets and scratch go with the pod, the logs stay.
	return corev1.PodStatus{}, true, removeAll(own.volumesFolder())
}

// grace is how long the pod has between SIGTERM and SIGKILL.
func grace(pod *corev1.Pod) time.Duration {
	seconds := ptr.Deref(pod.Spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	return time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, seconds)) * time.Second
}

// deadline reports whether activeDeadlineSeconds are over, and how much is left of them; 0 without.
func deadline(pod *corev1.Pod, now time.Time) (over bool, left time.Duration) {
	if pod.Spec.ActiveDeadlineSeconds == nil || pod.Status.StartTime == nil {
		return false, 0
	}
	left = pod.Status.StartTime.Add(time.Duration(*pod.Spec.ActiveDeadlineSeconds) * time.Second).Sub(now)
	return left <= 0, max(left, 0)
}

func again(gone bool) time.Duration {
	if gone {
		return 0
	}
	return pollInterval
}
