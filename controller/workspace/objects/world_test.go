package objects_test

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

const (
	workspaceUID = "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11"
	volumeUID    = "5a0b9c1e-0d7e-4f0e-9d6c-2f1b8f7f9a22"
	operationID  = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
)

// ann is a Workspace as the API server has filled it in.
func ann() *v1alpha1.Workspace {
	return &v1alpha1.Workspace{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ann", UID: workspaceUID, Generation: 1},
		Spec: v1alpha1.WorkspaceSpec{
			DesiredState: v1alpha1.DesiredRunning,
			WorkspacePod: v1alpha1.WorkspacePod{
				Image: "registry.example.com/ide:1.2", Ports: []int32{8080}, TerminationGracePeriodSeconds: 30,
				Resources: v1alpha1.Resources{
					Requests: v1alpha1.ResourceList{"cpu": "500m", "memory": "512Mi"}, Limits: v1alpha1.ResourceList{"cpu": "2", "memory": "4Gi"},
				},
			},
			Storage: v1alpha1.WorkspaceStorage{Size: "10Gi", AccessMode: "ReadWriteOnce", MountPath: "/home/coder"},
			Archive: &v1alpha1.WorkspaceArchive{StoreRef: v1alpha1.StoreRef{Name: "homes"}},
		},
	}
}

// action is an action of the engine that creates an object.
func action(kind lifecycle.ActionKind) lifecycle.Action {
	return lifecycle.Action{
		Kind: kind, Name: lifecycle.JobName("ann", operationID, 2), UID: volumeUID, OperationID: operationID, Attempt: 2,
		Key: lifecycle.ArchiveKey(workspaceUID, operationID), Epoch: 7, RestoredFrom: lifecycle.ArchiveKey(workspaceUID, "earlier"),
	}
}

func move(operation lifecycle.OperationType) objects.Move {
	return objects.Move{Operation: operation, Image: "registry.example.com/kyklos:1", Limit: 30 * time.Minute, Resources: objects.DefaultMoverResources()}
}

// workspaces draws any Workspace that a user may create, with valid quantities.
func workspaces(t *rapid.T) *v1alpha1.Workspace {
	ws := ann()
	ws.Name = rapid.StringMatching(`[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?`).Draw(t, "name")
	ws.UID = types.UID(rapid.SampledFrom([]string{workspaceUID, volumeUID}).Draw(t, "uid"))
	text := rapid.StringN(0, 20, 40)
	pod := &ws.Spec.WorkspacePod
	pod.Image = text.Draw(t, "image")
	pod.Command, pod.Args = rapid.SliceOfN(text, 0, 3).Draw(t, "command"), rapid.SliceOfN(text, 0, 3).Draw(t, "args")
	pod.Ports = rapid.SliceOfN(rapid.Int32Range(1, 65535), 0, 4).Draw(t, "ports")
	pod.Activity.CPUPercent = rapid.Int32Range(0, 2).Draw(t, "cpuPercent")
	pod.ServiceAccountName = text.Draw(t, "account")
	pod.TerminationGracePeriodSeconds = rapid.Int32Range(0, 3600).Draw(t, "grace")
	pod.NodeSelector = map[string]v1alpha1.LabelValue{"zone": v1alpha1.LabelValue(text.Draw(t, "zone"))}
	pod.Tolerations = []v1alpha1.Toleration{{Operator: "Exists", Effect: rapid.SampledFrom([]string{"", "NoExecute"}).Draw(t, "effect")}}
	pod.ImagePullSecrets = []v1alpha1.SecretRef{{Name: text.Draw(t, "secret")}}
	pod.Env = []v1alpha1.EnvVar{
		{Name: "A", Value: text.Draw(t, "value")},
		{Name: "B", ValueFrom: &v1alpha1.EnvVarSource{SecretKeyRef: &v1alpha1.KeyRef{Name: "s", Key: text.Draw(t, "key")}}},
		{Name: "C", ValueFrom: &v1alpha1.EnvVarSource{ConfigMapKeyRef: &v1alpha1.KeyRef{Name: "c", Key: "k"}}},
	}
	pod.ReadinessProbe = rapid.SampledFrom([]*v1alpha1.Probe{
		nil, {HTTPGet: &v1alpha1.HTTPGet{Path: "/healthz", Port: 1}}, {TCPSocket: &v1alpha1.TCPSocket{Port: 2}}, {Exec: &v1alpha1.Exec{Command: []string{"true"}}},
	}).Draw(t, "probe")
	pod.Resources.Requests = v1alpha1.ResourceList{"cpu": rapid.SampledFrom([]v1alpha1.Quantity{"1", "0.5", "250m"}).Draw(t, "cpu")}
	ws.Spec.Storage.StorageClassName = rapid.SampledFrom([]string{"", "fast"}).Draw(t, "class")
	ws.Spec.Storage.Size = rapid.SampledFrom([]string{"1", "10Gi", "1.5Ti"}).Draw(t, "size")
	return ws
}
