package objects

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/internal/archive/connect"
)

// identities is how a mover gets the secret keys for encrypted archives: from the Secret of the store itself, and nothing else of it. The
// Secret need not have any. The ticket has none, so no copy of them is ever made (W92).
func identities(ws *v1alpha1.Workspace) ([]corev1.Volume, []corev1.VolumeMount) {
	if ws.Spec.Archive == nil {
		return nil, nil
	}
	return []corev1.Volume{{Name: "keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
			SecretName: ws.Spec.Archive.StoreRef.Name, Optional: ptr.To(true), DefaultMode: ptr.To(int32(0o440)),
			Items: []corev1.KeyToPath{{Key: connect.AgeIdentity, Path: connect.AgeIdentity}},
		}}}},
		[]corev1.VolumeMount{{Name: "keys", MountPath: keysPath, ReadOnly: true}}
}
