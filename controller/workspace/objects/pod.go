package objects

import (
	"cmp"
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
	"kyklos.io/kyklos/internal/podtemplate"
)

const (
	// homeFolder is the folder of the home on its volume. The mover's folder is next to it and not visible to the workspace
	// (internal/archive/mover).
	homeFolder = podtemplate.Home
	// WorkspaceContainer is the name of the workspace's own container.
	WorkspaceContainer = podtemplate.Container
)

// Pod builds the Workspace's Pod for ActCreatePod: the template with the short form in it. The error is about an invalid quantity
// or template.
func Pod(ws *v1alpha1.Workspace, act lifecycle.Action) (*corev1.Pod, error) {
	amounts, err := resources(ws.Spec.Resources)
	if err != nil {
		return nil, err
	}
	template, wrong := podtemplate.Read(&ws.Spec)
	if len(wrong) > 0 {
		return nil, wrong.ToAggregate()
	}
	spec := template.Spec
	place(ws, &spec)
	spec.RestartPolicy = corev1.RestartPolicyAlways
	spec.ServiceAccountName = cmp.Or(ws.Spec.ServiceAccountName, spec.ServiceAccountName)
	// With a grace period of 0, the Pod object is deleted before its processes have ended (D3).
	spec.TerminationGracePeriodSeconds = ptr.To(max(int64(ws.Spec.TerminationGracePeriodSeconds), 1))
	spec.Volumes = append(spec.Volumes, homeVolume(ws))
	shortForm(ws, amounts, ownContainer(&spec))
	inHome(&spec)
	pod := &corev1.Pod{ObjectMeta: meta(ws, PodName(ws.Name), RoleWorkspace, act), Spec: spec}
	pod.Annotations = map[string]string{annotationSpec: madeOf(ws), annotationPorts: joined(ws.Spec.Ports)}
	mark(pod, template)
	return pod, nil
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

// podSpec is the part of the workspace's Pod that its movers have, too.
func podSpec(ws *v1alpha1.Workspace) corev1.PodSpec {
	spec := podtemplate.Placement(&ws.Spec)
	spec.AutomountServiceAccountToken, spec.EnableServiceLinks = ptr.To(false), ptr.To(false)
	place(ws, &spec)
	return spec
}

func homeVolume(ws *v1alpha1.Workspace) corev1.Volume {
	return corev1.Volume{Name: homeFolder, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: VolumeName(ws.Name)},
	}}
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
