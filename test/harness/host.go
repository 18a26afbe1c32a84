package harness

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

// HostProcesses is a flag for Start. Containers with an image of HostImage are processes of this machine, and the volumes of
// PVCs are folders. See kubelet.Processes in test/platform/devcluster.
const HostProcesses = "--host-processes"

// HostImage is an image whose entrypoint is a program of this machine. path must be absolute.
func HostImage(path string) string { return "host://" + path }

// VolumeFolder returns the folder of a PVC's volume. It is deleted with the volume.
func (c *Cluster) VolumeFolder(claim types.UID) string {
	return filepath.Join(c.Dir, "volumes", string(claim))
}

// KillContainer kills the container's process as the OOM killer does.
func (c *Cluster) KillContainer(pod *corev1.Pod, container string) error {
	folder := fmt.Sprintf("%s_%s_%s", pod.Namespace, pod.Name, pod.UID)
	text, err := os.ReadFile(filepath.Join(c.Dir, "pods", folder, container+".pid"))
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
