package objects

import (
	"maps"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/podtemplate"
)

// annotationDefaultContainer is the container that kubectl logs, exec and cp use.
const annotationDefaultContainer = "kubectl.kubernetes.io/default-container"

// place adds what the short form says about nodes and images.
func place(ws *v1alpha1.Workspace, spec *corev1.PodSpec) {
	for name, value := range ws.Spec.NodeSelector {
		if spec.NodeSelector == nil {
			spec.NodeSelector = map[string]string{}
		}
		spec.NodeSelector[name] = string(value)
	}
	for _, t := range ws.Spec.Tolerations {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect),
			TolerationSeconds: t.TolerationSeconds,
		})
	}
	for _, secret := range ws.Spec.ImagePullSecrets {
		if reference := (corev1.LocalObjectReference{Name: secret.Name}); !slices.Contains(spec.ImagePullSecrets, reference) {
			spec.ImagePullSecrets = append(spec.ImagePullSecrets, reference)
		}
	}
}

// ownContainer returns the workspace's own container in the template; it becomes the last one if the template has none. So
// the template's containers keep their places, by which the API server names them (workspace.PodTrial).
func ownContainer(spec *corev1.PodSpec) *corev1.Container {
	at := slices.IndexFunc(spec.Containers, func(c corev1.Container) bool { return c.Name == WorkspaceContainer })
	if at < 0 {
		at = len(spec.Containers)
		spec.Containers = append(spec.Containers, corev1.Container{Name: WorkspaceContainer, SecurityContext: podtemplate.ContainerSecurity(nil)})
	}
	return &spec.Containers[at]
}

// shortForm adds to the workspace's own container what spec says. The template does not say the same (W88).
func shortForm(ws *v1alpha1.Workspace, amounts corev1.ResourceRequirements, c *corev1.Container) {
	c.Image = ws.Spec.Image
	if len(ws.Spec.Command) > 0 {
		c.Command = ws.Spec.Command
	}
	if len(ws.Spec.Args) > 0 {
		c.Args = ws.Spec.Args
	}
	c.Env = append(c.Env, environment(ws.Spec.Env)...)
	c.Resources.Requests, c.Resources.Limits = amounts.Requests, amounts.Limits
	if probe := probe(ws.Spec.ReadinessProbe); probe != nil {
		c.ReadinessProbe = probe
	}
	if c.TerminationMessagePolicy == "" {
		c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	}
	for _, port := range ws.Spec.Ports {
		named := slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
			return p.ContainerPort == port && (p.Protocol == corev1.ProtocolTCP || p.Protocol == "")
		})
		if !named {
			c.Ports = append(c.Ports, corev1.ContainerPort{ContainerPort: port, Protocol: corev1.ProtocolTCP})
		}
	}
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: homeFolder, MountPath: ws.Spec.Storage.MountPath})
}

// inHome keeps mounts of the home inside its folder: the mover's is next to it.
func inHome(spec *corev1.PodSpec) {
	for container := range podtemplate.Containers(spec) {
		for i := range container.VolumeMounts {
			if mount := &container.VolumeMounts[i]; mount.Name == homeFolder {
				mount.SubPath = path.Join(homeFolder, mount.SubPath)
			}
		}
	}
}

// mark adds the template's labels and annotations to the Pod's.
func mark(pod *corev1.Pod, template podtemplate.Template) {
	labels := maps.Clone(template.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, pod.Labels)
	pod.Labels = labels
	if len(pod.Spec.Containers)+len(pod.Spec.InitContainers) > 1 {
		pod.Annotations[annotationDefaultContainer] = WorkspaceContainer
	}
	maps.Copy(pod.Annotations, template.Annotations)
}
