package objects

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/lifecycle"
)

const (
	// homeFolder is the folder of the home on its volume. The mover's folder is next to it and not visible to the workspace
	// (internal/archive/mover).
	homeFolder = "home"
	// WorkspaceContainer is the name of the workspace's own container.
	WorkspaceContainer = "workspace"
	// user is the UID of workspaces and movers, and the owner of the files in a home.
	user int64 = 1000
)

// Pod builds the Workspace's Pod for ActCreatePod. The error is about an invalid quantity.
func Pod(ws *v1alpha1.Workspace, act lifecycle.Action) (*corev1.Pod, error) {
	amounts, err := resources(ws.Spec.Resources)
	if err != nil {
		return nil, err
	}
	spec := podSpec(ws)
	spec.RestartPolicy = corev1.RestartPolicyAlways
	spec.ServiceAccountName = ws.Spec.ServiceAccountName
	// With a grace period of 0, the Pod object is deleted before its processes have ended (D3).
	spec.TerminationGracePeriodSeconds = ptr.To(max(int64(ws.Spec.TerminationGracePeriodSeconds), 1))
	spec.Volumes = []corev1.Volume{homeVolume(ws)}
	container := corev1.Container{
		Name: WorkspaceContainer, Image: ws.Spec.Image, Command: ws.Spec.Command, Args: ws.Spec.Args,
		Env: environment(ws.Spec.Env), Resources: amounts, ReadinessProbe: probe(ws.Spec.ReadinessProbe),
		VolumeMounts:             []corev1.VolumeMount{{Name: homeFolder, MountPath: ws.Spec.Storage.MountPath, SubPath: homeFolder}},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext:          restricted(),
	}
	for _, port := range ws.Spec.Ports {
		container.Ports = append(container.Ports, corev1.ContainerPort{ContainerPort: port, Protocol: corev1.ProtocolTCP})
	}
	spec.Containers = []corev1.Container{container}
	metadata := meta(ws, PodName(ws.Name), RoleWorkspace, act)
	metadata.Annotations = map[string]string{annotationSpec: madeOf(ws)}
	return &corev1.Pod{ObjectMeta: metadata, Spec: spec}, nil
}

// Outdated reports whether the Pod was created from another spec than the current one, which applies from the next start on.
func Outdated(ws *v1alpha1.Workspace, pod *corev1.Pod) bool {
	made, known := pod.Annotations[annotationSpec]
	return known && made != madeOf(ws)
}

// madeOf returns a digest of the Pod's part of the spec, not of the Pod: another version of Kyklos may build it differently.
func madeOf(ws *v1alpha1.Workspace) string { return digest(ws.Spec.WorkspacePod) }

func digest(spec any) string {
	text, err := json.Marshal(spec)
	if err != nil {
		panic(err) // strings, numbers and lists of them
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// podSpec is what the workspace's Pod and its movers have in common. A mover can be the first to use the volume and so
// determine its zone: it must only run where the workspace can run.
func podSpec(ws *v1alpha1.Workspace) corev1.PodSpec {
	spec := corev1.PodSpec{
		AutomountServiceAccountToken: ptr.To(false),
		EnableServiceLinks:           ptr.To(false),
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To(user), RunAsGroup: ptr.To(user), FSGroup: ptr.To(user),
			// Do not walk through a home of a million files at each start.
			FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch),
			SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
	if len(ws.Spec.NodeSelector) > 0 {
		spec.NodeSelector = map[string]string{}
		for name, value := range ws.Spec.NodeSelector {
			spec.NodeSelector[name] = string(value)
		}
	}
	for _, t := range ws.Spec.Tolerations {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value, Effect: corev1.TaintEffect(t.Effect),
			TolerationSeconds: t.TolerationSeconds,
		})
	}
	for _, secret := range ws.Spec.ImagePullSecrets {
		spec.ImagePullSecrets = append(spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret.Name})
	}
	return spec
}

func homeVolume(ws *v1alpha1.Workspace) corev1.Volume {
	return corev1.Volume{Name: homeFolder, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: VolumeName(ws.Name)},
	}}
}

// restricted is what the restricted Pod Security Standard requires of each container.
func restricted() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: ptr.To(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// resources parses the quantities in the order of their names, so that the error is always the same.
func resources(r v1alpha1.Resources) (corev1.ResourceRequirements, error) {
	var parsed [2]corev1.ResourceList
	for i, list := range []v1alpha1.ResourceList{r.Requests, r.Limits} {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			amount, err := quantity(fmt.Sprintf("spec.resources.%s[%s]", []string{"requests", "limits"}[i], name), string(list[name]))
			if err != nil {
				return corev1.ResourceRequirements{}, err
			}
			if parsed[i] == nil {
				parsed[i] = corev1.ResourceList{}
			}
			parsed[i][corev1.ResourceName(name)] = amount
		}
	}
	return corev1.ResourceRequirements{Requests: parsed[0], Limits: parsed[1]}, nil
}

func environment(vars []v1alpha1.EnvVar) []corev1.EnvVar {
	var out []corev1.EnvVar
	for _, v := range vars {
		env := corev1.EnvVar{Name: v.Name, Value: v.Value}
		if from := v.ValueFrom; from != nil {
			env.ValueFrom = &corev1.EnvVarSource{}
			if ref := from.SecretKeyRef; ref != nil {
				env.ValueFrom.SecretKeyRef = &corev1.SecretKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key, Optional: ref.Optional,
				}
			}
			if ref := from.ConfigMapKeyRef; ref != nil {
				env.ValueFrom.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{
					LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: ref.Key, Optional: ref.Optional,
				}
			}
		}
		out = append(out, env)
	}
	return out
}

func probe(p *v1alpha1.Probe) *corev1.Probe {
	if p == nil {
		return nil
	}
	out := &corev1.Probe{
		InitialDelaySeconds: p.InitialDelaySeconds, PeriodSeconds: p.PeriodSeconds, TimeoutSeconds: p.TimeoutSeconds,
		FailureThreshold: p.FailureThreshold,
	}
	switch {
	case p.HTTPGet != nil:
		out.HTTPGet = &corev1.HTTPGetAction{Path: p.HTTPGet.Path, Port: intstr.FromInt32(p.HTTPGet.Port)}
	case p.TCPSocket != nil:
		out.TCPSocket = &corev1.TCPSocketAction{Port: intstr.FromInt32(p.TCPSocket.Port)}
	case p.Exec != nil:
		out.Exec = &corev1.ExecAction{Command: p.Exec.Command}
	}
	return out
}
