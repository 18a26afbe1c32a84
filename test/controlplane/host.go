package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// HostProcesses is a flag for Start: containers whose images HostImage names are processes of this
// machine, and the volumes of claims are folders. See kubelet.Processes in test/devcluster.
const HostProcesses = "--host-processes"

// HostImage is the image whose entrypoint is a program of this machine. path must be absolute.
func HostImage(path string) string { return "host://" + path }

// VolumeFolder is where the files of a claim are; it is gone when the claim's volume is.
func (c *Cluster) VolumeFolder(claim types.UID) string {
	return filepath.Join(c.Dir, "volumes", string(claim))
}

// podFile is a file that the node keeps of one of a pod's containers.
func (c *Cluster) podFile(pod *corev1.Pod, container, suffix string) string {
	return filepath.Join(c.Dir, "pods", fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID), container+suffix)
}

// ContainerLog is what all runs of the container wrote so far. It outlives the pod.
func (c *Cluster) ContainerLog(pod *corev1.Pod, container string) (string, error) {
	text, err := os.ReadFile(c.podFile(pod, container, ".log"))
	return string(text), err
}

// KillContainer ends the container's process as a kernel without memory does.
func (c *Cluster) KillContainer(pod *corev1.Pod, container string) error {
	text, err := os.ReadFile(c.podFile(pod, container, ".pid"))
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("container %s of pod %s does not run", container, pod.Name)
	}
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}
