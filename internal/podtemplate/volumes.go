package podtemplate

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kyklos.io/kyklos/internal/wsobject"
)

// volumes checks the names, and that no home is mounted past its Workspace: what is written to it while it is archived would be
// lost, and the mover's folder is on it.
func (c *checker) volumes() {
	seen := map[string]bool{}
	for i, volume := range c.spec.Volumes {
		at := c.at.Child("volumes").Index(i)
		if volume.Name == Home {
			c.refuse(at.Child("name"), Home, "must be another name: home is the home directory, which spec.storage describes; containers can mount it without a volume here")
		} else {
			c.name(at.Child("name"), volume.Name, seen)
		}
		if ephemeral := volume.Ephemeral; ephemeral != nil {
			if strings.HasSuffix(volume.Name, "-"+Home) { // the claim is named after the Pod and the volume
				c.refuse(at.Child("name"), volume.Name, "must not end in -home: the claim of this volume could have the name of another Workspace's home")
			}
			if template := ephemeral.VolumeClaimTemplate; template != nil {
				c.metadata(at.Child("ephemeral", "volumeClaimTemplate", "metadata"), template.Annotations, template.Labels)
			}
		}
		if claim := volume.PersistentVolumeClaim; claim != nil && wsobject.IsVolumeName(claim.ClaimName) {
			c.refuse(at.Child("persistentVolumeClaim", "claimName"), claim.ClaimName, "must not be the home of a Workspace: containers mount their own as the volume home, and nobody another's")
		}
	}
}

// secrets keeps the store's Secret out of the Pod: who reads it can read every archive in the store (W89).
func (c *checker) secrets() {
	if c.ws.Archive == nil {
		return
	}
	store := c.ws.Archive.StoreRef.Name
	check := func(at *field.Path, name string) {
		if name == store {
			c.forbid(at, "must not be the Secret of archive.storeRef: users of this workspace could read every archive in the store")
		}
	}
	for i, secret := range c.spec.ImagePullSecrets {
		check(c.at.Child("imagePullSecrets").Index(i).Child("name"), secret.Name)
	}
	for i, volume := range c.spec.Volumes {
		at := c.at.Child("volumes").Index(i)
		if volume.Secret != nil {
			check(at.Child("secret", "secretName"), volume.Secret.SecretName)
		}
		if volume.CSI != nil && volume.CSI.NodePublishSecretRef != nil {
			check(at.Child("csi", "nodePublishSecretRef", "name"), volume.CSI.NodePublishSecretRef.Name)
		}
		if volume.Projected != nil {
			for j, source := range volume.Projected.Sources {
				if source.Secret != nil {
					check(at.Child("projected", "sources").Index(j).Child("secret", "name"), source.Secret.Name)
				}
			}
		}
	}
	c.eachContainer(func(at *field.Path, container *corev1.Container, _ bool) {
		for i, from := range container.EnvFrom {
			if from.SecretRef != nil {
				check(at.Child("envFrom").Index(i).Child("secretRef", "name"), from.SecretRef.Name)
			}
		}
		for i, variable := range container.Env {
			if from := variable.ValueFrom; from != nil && from.SecretKeyRef != nil {
				check(at.Child("env").Index(i).Child("valueFrom", "secretKeyRef", "name"), from.SecretKeyRef.Name)
			}
		}
	})
}
