package objects

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Where a mover finds what it needs. All are arguments of it.
const (
	volumePath     = "/volume"
	ticketPath     = "/ticket"
	terminationLog = "/dev/termination-log"
	// ticketKey is the ticket's name in its Secret, and so the file's.
	ticketKey = "ticket.json"
)

// keptSeconds is how long a finished Job stays if nobody deletes it, which the reconciler does (D18).
const keptSeconds = 24 * 60 * 60

// Move is what a mover's Job is told beside the action.
type Move struct {
	// Operation is Archiving or Restoring.
	Operation lifecycle.OperationType
	// Image is Kyklos' own.
	Image string
	// Limit is how long the attempt may take, at least a second.
	Limit time.Duration
	// SHA256 is what the sum of the archive must be, 64 hexadecimal digits; to restore. Empty takes the
	// marker's word.
	SHA256 string
}

// Ticket makes the Secret with a mover's ticket for ActCreateJob. It is made before its Job, which could
// not start without it, has the Job's name, and is to be deleted before the Job: as long as the Job is
// there, whoever deletes it knows that there may be a ticket. One that was left behind by a crash ends
// with the Workspace, and is of no use to anybody once it has expired.
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

// ReadTicket returns the ticket in a Secret. The error says that there is none.
func ReadTicket(secret *corev1.Secret) (archive.Ticket, error) {
	var ticket archive.Ticket
	if err := json.Unmarshal(secret.Data[ticketKey], &ticket); err != nil {
		return archive.Ticket{}, fmt.Errorf("%s in Secret %s/%s is no ticket: %w", ticketKey, secret.Namespace, secret.Name, err)
	}
	return ticket, nil
}

// Job makes the mover's Job for ActCreateJob. It runs once: attempts are counted in the Workspace (D9).
// Only a Pod that its node lost, by a drain or a preemption, is made again within the attempt.
func Job(ws *v1alpha1.Workspace, act lifecycle.Action, move Move) *batchv1.Job {
	seconds := int64(math.Ceil(move.Limit.Seconds()))
	about := meta(ws, act.Name, RoleMover, act)
	about.Labels[LabelVolumeUID] = act.UID
	job := &batchv1.Job{ObjectMeta: about}
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
	job.Spec.Template.Labels = about.Labels
	return job
}

func moverSpec(ws *v1alpha1.Workspace, act lifecycle.Action, move Move) corev1.PodSpec {
	spec := podSpec(ws)
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.TerminationGracePeriodSeconds = ptr.To(int64(10))
	spec.Volumes = []corev1.Volume{
		homeVolume(ws),
		{Name: "ticket", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: act.Name, DefaultMode: ptr.To(int32(0o440))}}},
		{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: ptr.To(resource.MustParse("16Mi"))}}},
	}
	security := restricted()
	security.ReadOnlyRootFilesystem = ptr.To(true)
	spec.Containers = []corev1.Container{{
		Name: "mover", Image: move.Image, Args: arguments(ws, act, move), Resources: moverResources(),
		VolumeMounts: []corev1.VolumeMount{
			// Who archives must not be able to change the home (D3).
			{Name: homeFolder, MountPath: volumePath, ReadOnly: move.Operation == lifecycle.Archiving},
			{Name: "ticket", MountPath: ticketPath, ReadOnly: true},
			{Name: "tmp", MountPath: "/tmp"},
		},
		TerminationMessagePath: terminationLog, TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		SecurityContext: security,
	}}
	return spec
}

// arguments are those of `kyklos mover archive` and `kyklos mover restore`.
func arguments(ws *v1alpha1.Workspace, act lifecycle.Action, move Move) []string {
	verb := "restore"
	if move.Operation == lifecycle.Archiving {
		verb = "archive"
	}
	args := []string{
		"mover", verb, "--ticket", ticketPath + "/" + ticketKey, "--volume", volumePath, "--volume-uid", act.UID,
		"--termination-log", terminationLog,
	}
	if verb == "archive" {
		return append(args, "--epoch", strconv.FormatInt(act.Epoch, 10), "--workspace", ws.Namespace+"/"+ws.Name)
	}
	args = append(args, "--operation", act.OperationID)
	if move.SHA256 != "" {
		args = append(args, "--sha256", move.SHA256)
	}
	return args
}

// moverResources: four parts of an upload are 128 MiB, more for volumes over 300 GiB (ADR 14). There are
// limits for both, since a quota on limits refuses Pods without them.
func moverResources() corev1.ResourceRequirements {
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m"), corev1.ResourceMemory: resource.MustParse("256Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("2Gi")},
	}
}
