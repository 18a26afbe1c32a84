package objects

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/podtemplate"
)

// MoverContainer is the name of the mover's container. Its Pod may have others, which a webhook injected.
const MoverContainer = "mover"

// The paths in a mover. All are arguments.
const (
	volumePath     = "/volume"
	ticketPath     = "/ticket"
	keysPath       = "/keys"
	terminationLog = "/dev/termination-log"
	// ticketKey is the ticket's key in its Secret, and the name of its file.
	ticketKey = "ticket.json"
)

// keptSeconds is how long a finished Job is kept if the reconciler does not delete it (D18).
const keptSeconds = 24 * 60 * 60

// Move is what a mover's Job does, besides the action.
type Move struct {
	// Operation is Archiving or Restoring.
	Operation lifecycle.OperationType
	// Image is Kyklos' image.
	Image string
	// Limit is the time limit of the attempt, at least a second.
	Limit time.Duration
	// SHA256 is the expected checksum of the archive to restore, 64 hexadecimal digits. If it is empty, the marker's is used.
	SHA256 string
	// Resources of the Pod.
	Resources corev1.ResourceRequirements
}

// Ticket builds the Secret with a mover's ticket for ActCreateJob. It has the Job's name. It is created before the Job, which
// needs it to start, and deleted before the Job: as long as the Job exists, there may be a ticket. One that is left after a
// crash is deleted with the Workspace and is useless once it has expired.
func Ticket(ws *v1alpha1.Workspace, act lifecycle.Action, ticket archive.Ticket) (*corev1.Secret, error) {
	text, err := json.Marshal(ticket)
	if err != nil {
		return nil, err
	}
	return &corev1.Secret{
		ObjectMeta: meta(ws, act.Name, RoleMover, act), Immutable: ptr.To(true), Type: corev1.SecretTypeOpaque,
		Data: map[string][]byte{ticketKey: text},
	}, nil
}

// ReadTicket returns the ticket in a Secret.
func ReadTicket(secret *corev1.Secret) (archive.Ticket, error) {
	var ticket archive.Ticket
	if err := json.Unmarshal(secret.Data[ticketKey], &ticket); err != nil {
		return archive.Ticket{}, fmt.Errorf("%s in Secret %s/%s is not a valid ticket: %w", ticketKey, secret.Namespace, secret.Name, err)
	}
	return ticket, nil
}

// Job builds the mover's Job for ActCreateJob. It runs once: attempts are counted in the Workspace (D9). Only a Pod that was
// lost with its node, by a drain or a preemption, is created again within the attempt.
func Job(ws *v1alpha1.Workspace, act lifecycle.Action, move Move) *batchv1.Job {
	seconds := int64(math.Ceil(move.Limit.Seconds()))
	metadata := meta(ws, act.Name, RoleMover, act)
	metadata.Labels[LabelVolumeUID] = act.UID
	job := &batchv1.Job{ObjectMeta: metadata}
	job.Spec = batchv1.JobSpec{
		Parallelism: ptr.To(int32(1)), Completions: ptr.To(int32(1)), BackoffLimit: ptr.To(int32(0)),
		ActiveDeadlineSeconds:   ptr.To(max(seconds, 1)),
		TTLSecondsAfterFinished: ptr.To(int32(keptSeconds)),
		// Never two movers of one Job on the volume (D7).
		PodReplacementPolicy: ptr.To(batchv1.Failed),
		PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:          batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
		}}},
		Template: corev1.PodTemplateSpec{Spec: moverSpec(ws, act, move)},
	}
	job.Spec.Template.Labels = metadata.Labels
	return job
}

// MoverPod builds the Pod as the Job controller will, to ask the API server whether it accepts it (W57).
func MoverPod(ws *v1alpha1.Workspace, act lifecycle.Action, move Move) *corev1.Pod {
	job := Job(ws, act, move)
	pod := &corev1.Pod{ObjectMeta: job.Spec.Template.ObjectMeta, Spec: job.Spec.Template.Spec}
	pod.Namespace, pod.GenerateName = ws.Namespace, act.Name+"-"
	pod.Labels = maps.Clone(pod.Labels)
	pod.Labels[batchv1.JobNameLabel] = act.Name
	// A policy may require an owner. Nothing looks it up.
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Name: act.Name, UID: types.UID(act.OperationID), Controller: ptr.To(true),
	}}
	return pod
}

func moverSpec(ws *v1alpha1.Workspace, act lifecycle.Action, move Move) corev1.PodSpec {
	spec := podSpec(ws)
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.Tolerations = append(spec.Tolerations, deviceTolerations(ws)...)
	spec.TerminationGracePeriodSeconds = ptr.To(int64(10))
	spec.Volumes = []corev1.Volume{
		homeVolume(ws),
		{Name: "ticket", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: act.Name, DefaultMode: ptr.To(int32(0o440))}}},
		{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse("16Mi"))}}},
	}
	keys, mountedKeys := identities(ws)
	spec.Volumes = append(spec.Volumes, keys...)
	security := podtemplate.ContainerSecurity(nil)
	security.ReadOnlyRootFilesystem = ptr.To(true)
	spec.Containers = []corev1.Container{{
		Name: MoverContainer, Image: move.Image, Args: arguments(ws, act, move), Resources: move.Resources, Env: moverEnv(move.Resources),
		VolumeMounts: append([]corev1.VolumeMount{
			// Archiving must not be able to change the home (D3).
			{Name: homeFolder, MountPath: volumePath, ReadOnly: move.Operation == lifecycle.Archiving},
			{Name: "ticket", MountPath: ticketPath, ReadOnly: true},
			{Name: "tmp", MountPath: "/tmp"},
		}, mountedKeys...),
		TerminationMessagePath: terminationLog, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		SecurityContext: security,
	}}
	return spec
}

// arguments are the arguments of `kyklos mover archive` and `kyklos mover restore`.
func arguments(ws *v1alpha1.Workspace, act lifecycle.Action, move Move) []string {
	verb := "restore"
	if move.Operation == lifecycle.Archiving {
		verb = "archive"
	}
	args := []string{
		"mover", verb, "--ticket", ticketPath + "/" + ticketKey, "--volume", volumePath, "--volume-uid", act.UID,
		"--termination-log", terminationLog,
	}
	if ws.Spec.Archive != nil {
		args = append(args, "--identities", keysPath+"/"+connect.AgeIdentity)
	}
	if verb == "archive" {
		args = append(args, "--epoch", strconv.FormatInt(act.Epoch, 10), "--workspace", ws.Namespace+"/"+ws.Name)
		if act.RestoredFrom != "" {
			args = append(args, "--restored-from", act.RestoredFrom)
		}
		return args
	}
	args = append(args, "--operation", act.OperationID)
	if move.SHA256 != "" {
		args = append(args, "--sha256", move.SHA256)
	}
	return args
}
