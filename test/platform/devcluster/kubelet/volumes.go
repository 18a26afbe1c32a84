package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podresource "k8s.io/kubernetes/pkg/api/v1/resource"
	"k8s.io/kubernetes/third_party/forked/golang/expansion"
	"k8s.io/utils/ptr"
)

// errMount is of a volume that cannot be mounted now; a kubelet tries again until it can.
var errMount = errors.New("FailedMount")

// volumes makes the pod's volumes below folder and returns where on this machine each is.
func (s sources) volumes(ctx context.Context, pod *corev1.Pod, folder string) (map[string]string, error) {
	all := map[string]string{}
	for _, v := range pod.Spec.Volumes {
		at := filepath.Join(folder, v.Name)
		err := os.MkdirAll(at, 0o777)
		switch {
		case err != nil:
		case v.PersistentVolumeClaim != nil:
			at, err = s.claimed(ctx, pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		case v.HostPath != nil:
			at = v.HostPath.Path
		case v.EmptyDir != nil:
		default:
			err = s.fill(ctx, pod, v, at)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: volume %s: %w", errMount, v.Name, err)
		}
		all[v.Name] = at
	}
	return all, nil
}

// claimed is the folder that a claim is bound to.
func (s sources) claimed(ctx context.Context, namespace, name string) (string, error) {
	claim, err := s.client.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	switch {
	case err != nil:
		return "", err
	case claim.DeletionTimestamp != nil:
		return "", fmt.Errorf("persistentvolumeclaim %q is being deleted", name)
	case claim.Status.Phase != corev1.ClaimBound:
		return "", fmt.Errorf("persistentvolumeclaim %q is not bound", name)
	}
	volume, err := s.client.CoreV1().PersistentVolumes().Get(ctx, claim.Spec.VolumeName, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	if volume.Spec.HostPath == nil {
		return "", fmt.Errorf("persistentvolume %q is not a folder of this machine (hostPath)", volume.Name)
	}
	_, err = os.Stat(volume.Spec.HostPath.Path)
	return volume.Spec.HostPath.Path, err
}

// fill writes the files of a volume that is made of other objects. They are what they were at the pod's
// start, and do not follow.
func (s sources) fill(ctx context.Context, pod *corev1.Pod, v corev1.Volume, at string) error {
	var projections []corev1.VolumeProjection
	var mode *int32
	switch {
	case v.Secret != nil:
		mode = v.Secret.DefaultMode
		projections = []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: v.Secret.SecretName}, Items: v.Secret.Items, Optional: v.Secret.Optional}}}
	case v.ConfigMap != nil:
		mode = v.ConfigMap.DefaultMode
		projections = []corev1.VolumeProjection{{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: v.ConfigMap.LocalObjectReference, Items: v.ConfigMap.Items, Optional: v.ConfigMap.Optional}}}
	case v.DownwardAPI != nil:
		mode = v.DownwardAPI.DefaultMode
		projections = []corev1.VolumeProjection{{DownwardAPI: &corev1.DownwardAPIProjection{Items: v.DownwardAPI.Items}}}
	case v.Projected != nil:
		mode, projections = v.Projected.DefaultMode, v.Projected.Sources
	default:
		return errors.New("this node knows persistentVolumeClaim, emptyDir, hostPath, secret, configMap, downwardAPI and projected only")
	}
	for _, projection := range projections {
		files, err := s.files(ctx, pod, projection)
		if err != nil {
			return err
		}
		for name, content := range files {
			if err := write(filepath.Join(at, name), content, os.FileMode(ptr.Deref(mode, 0o644))); err != nil {
				return err
			}
		}
	}
	return nil
}

// files are what one source adds to a volume, by path. Tokens of ServiceAccounts are left out.
func (s sources) files(ctx context.Context, pod *corev1.Pod, from corev1.VolumeProjection) (map[string][]byte, error) {
	switch {
	case from.Secret != nil:
		all, err := s.secret(ctx, pod.Namespace, from.Secret.Name, from.Secret.Optional)
		return chosen(all, from.Secret.Items, from.Secret.Optional, err)
	case from.ConfigMap != nil:
		all, err := s.configMap(ctx, pod.Namespace, from.ConfigMap.Name, from.ConfigMap.Optional)
		return chosen(all, from.ConfigMap.Items, from.ConfigMap.Optional, err)
	case from.DownwardAPI != nil:
		files := map[string][]byte{}
		for _, item := range from.DownwardAPI.Items {
			var text string
			var err error
			if item.FieldRef != nil {
				text, err = field(pod, item.FieldRef.FieldPath)
			} else {
				text, err = podresource.ExtractResourceValueByContainerName(item.ResourceFieldRef, pod, item.ResourceFieldRef.ContainerName)
			}
			if err != nil {
				return nil, err
			}
			files[item.Path] = []byte(text)
		}
		return files, nil
	}
	return nil, nil
}

// chosen are the keys that the items name, or all without items.
func chosen(all map[string][]byte, items []corev1.KeyToPath, may *bool, err error) (map[string][]byte, error) {
	if err != nil || len(items) == 0 {
		return all, err
	}
	files := map[string][]byte{}
	for _, item := range items {
		content, found := all[item.Key]
		if !found && !ptr.Deref(may, false) {
			return nil, fmt.Errorf("there is no key %q", item.Key)
		}
		if found {
			files[item.Path] = content
		}
	}
	return files, nil
}

// write replaces a file, whatever mode an earlier start gave it.
func write(path string, content []byte, mode os.FileMode) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(path, content, mode); err != nil {
		return err
	}
	return os.Chmod(path, mode) // whatever the umask is
}

// mounts are the container's paths on this machine. A subPath that is missing is made with its volume's
// mode, as a kubelet does; one that leads out of the volume is refused.
func mounts(c *corev1.Container, volumes, env map[string]string) ([]mounted, error) {
	var all []mounted
	for _, mount := range c.VolumeMounts {
		at, below := volumes[mount.Name], mount.SubPath
		if mount.SubPathExpr != "" {
			below = expansion.Expand(mount.SubPathExpr, expansion.MappingFuncFor(env))
		}
		if below != "" {
			root := at
			at = filepath.Join(root, below)
			if err := makeBelow(root, below); err != nil {
				return nil, fmt.Errorf("%w: subPath %s of volume %s: %w", errMount, below, mount.Name, err)
			}
		}
		all = append(all, mounted{inside: mount.MountPath, host: at})
	}
	return all, nil
}

func makeBelow(root, below string) error {
	volume, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer volume.Close()
	info, err := volume.Stat(".")
	if err != nil {
		return err
	}
	if _, err := volume.Stat(below); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := volume.MkdirAll(below, info.Mode().Perm()); err != nil {
		return err
	}
	return volume.Chmod(below, info.Mode().Perm())
}
