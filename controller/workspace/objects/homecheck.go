package objects

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/internal/podtemplate"
)

// HomeCheckContainer is the name of the init container that looks for the home on an adopted volume (W98).
const HomeCheckContainer = "kyklos-home"

// AddHomeCheck adds an init container that fails unless the volume has a home. It is the first one: the kubelet makes the folder of
// a mount, if it is missing, when the container with the mount starts. image is Kyklos' own.
func AddHomeCheck(pod *corev1.Pod, image string, resources corev1.ResourceRequirements) {
	security := podtemplate.ContainerSecurity(nil)
	security.ReadOnlyRootFilesystem = ptr.To(true)
	pod.Spec.InitContainers = append([]corev1.Container{{
		Name: HomeCheckContainer, Image: image, Args: []string{"mover", "check", "--volume", volumePath, "--termination-log", terminationLog},
		VolumeMounts: []corev1.VolumeMount{{Name: homeFolder, MountPath: volumePath, ReadOnly: true}},
		Resources:    resources, SecurityContext: security,
		TerminationMessagePath: terminationLog, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
	}}, pod.Spec.InitContainers...)
}
