package podtemplate

import (
	"iter"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Containers are the init containers and then the others. They can be changed.
func Containers(spec *corev1.PodSpec) iter.Seq[*corev1.Container] {
	return func(yield func(*corev1.Container) bool) {
		for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range containers {
				if !yield(&containers[i]) {
					return
				}
			}
		}
	}
}

// eachContainer calls do for the init containers and then the others.
func (c *checker) eachContainer(do func(at *field.Path, container *corev1.Container, initial bool)) {
	for i := range c.spec.InitContainers {
		do(c.at.Child("initContainers").Index(i), &c.spec.InitContainers[i], true)
	}
	for i := range c.spec.Containers {
		do(c.at.Child("containers").Index(i), &c.spec.Containers[i], false)
	}
}

func (c *checker) containers() {
	seen := map[string]bool{}
	c.eachContainer(func(at *field.Path, container *corev1.Container, initial bool) {
		c.name(at.Child("name"), container.Name, seen)
		own := container.Name == Container
		switch {
		case own && initial:
			c.refuse(at.Child("name"), container.Name, "must be another name: %s is the workspace's own container, which belongs to containers", Container)
			return
		case own:
			c.ownContainer(at, container)
		case container.Image == "":
			c.require(at.Child("image"), "must be given: spec.image is the image of the container %s only", Container)
		}
		if initial {
			c.initContainer(at, container)
		}
		if s := container.SecurityContext; s != nil {
			c.group(at.Child("securityContext", "runAsGroup"), s.RunAsGroup)
		}
		c.mounts(at, container, own)
	})
}

// ownContainer refuses what the short form has, also by its defaults, so that no field is in two places.
func (c *checker) ownContainer(at *field.Path, container *corev1.Container) {
	if container.Image != "" {
		c.forbid(at.Child("image"), "must be left out of the container %s: set spec.image", Container)
	}
	if len(container.Resources.Requests) > 0 || len(container.Resources.Limits) > 0 {
		c.forbid(at.Child("resources"), "must have no requests and limits in the container %s: set spec.resources", Container)
	}
	if container.RestartPolicy != nil && *container.RestartPolicy != corev1.ContainerRestartPolicyAlways || len(container.RestartPolicyRules) > 0 {
		c.forbid(at.Child("restartPolicy"), "must be left out of the container %s: it is started again until Kyklos stops the Pod", Container)
	}
}

// initContainer refuses what Kubernetes lets only containers have that run beside the others.
func (c *checker) initContainer(at *field.Path, container *corev1.Container) {
	policy := container.RestartPolicy
	if policy != nil && *policy == corev1.ContainerRestartPolicyAlways {
		return
	}
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"lifecycle", container.Lifecycle != nil}, {"livenessProbe", container.LivenessProbe != nil},
		{"readinessProbe", container.ReadinessProbe != nil}, {"startupProbe", container.StartupProbe != nil},
	} {
		if f.is {
			c.forbid(at.Child(f.name), "must be left out of an init container, which ends before the others start; a sidecar has restartPolicy: Always")
		}
	}
}

// mounts checks that each mount has its volume, and that the home stays where it is.
func (c *checker) mounts(at *field.Path, container *corev1.Container, own bool) {
	volumes, paths, home := c.volumeNames(), map[string]bool{}, own
	if own {
		paths[path.Clean(c.ws.Storage.MountPath)] = true
	}
	for i, mount := range container.VolumeMounts {
		at := at.Child("volumeMounts").Index(i)
		clean := path.Clean(mount.MountPath)
		switch {
		case mount.Name == "":
			c.require(at.Child("name"), "must be given: the name of a volume, or home")
		case mount.Name == Home:
			home = true
			c.homeMount(at, mount)
		case !volumes[mount.Name]:
			c.refuse(at.Child("name"), mount.Name, "there is no such volume: add it to spec.template.spec.volumes, or mount home, the home directory")
		}
		switch {
		case mount.MountPath == "":
			c.require(at.Child("mountPath"), "must be given: an absolute path in the container, such as /cache")
		case own && clean == path.Clean(c.ws.Storage.MountPath):
			c.refuse(at.Child("mountPath"), mount.MountPath, "must be another path: the home is there, as spec.storage.mountPath says")
		case paths[clean]:
			c.refuse(at.Child("mountPath"), mount.MountPath, "must be another path: something else is mounted there")
		}
		paths[clean] = true
	}
	for i, device := range container.VolumeDevices {
		if !volumes[device.Name] {
			c.refuse(at.Child("volumeDevices").Index(i).Child("name"), device.Name, "there is no such volume: add it to spec.template.spec.volumes")
		}
	}
	if home {
		c.ownUser(at.Child("securityContext"), container.SecurityContext)
	}
}

// ownUser: one user owns the home, the mover's.
func (c *checker) ownUser(at *field.Path, s *corev1.SecurityContext) {
	const why = "must be left out of a container that mounts the home: set it in spec.template.spec.securityContext, so that one user owns the home and can archive all of it"
	if s != nil && s.RunAsGroup != nil {
		c.forbid(at.Child("runAsGroup"), why)
	}
	if s != nil && s.RunAsUser != nil {
		c.forbid(at.Child("runAsUser"), why)
	}
}

func (c *checker) homeMount(at *field.Path, mount corev1.VolumeMount) {
	if mount.SubPathExpr != "" {
		c.forbid(at.Child("subPathExpr"), "must be left out for the home: use subPath")
	}
	if sub := mount.SubPath; path.IsAbs(sub) || sub == ".." || strings.HasPrefix(path.Clean(sub), "..") || strings.Contains("/"+sub+"/", "/../") {
		c.refuse(at.Child("subPath"), sub, "must be a folder in the home, without '..', such as src")
	}
}

func (c *checker) volumeNames() map[string]bool {
	names := map[string]bool{}
	for i := range c.spec.Volumes {
		names[c.spec.Volumes[i].Name] = true
	}
	return names
}
