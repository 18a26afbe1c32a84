package message

import (
	"fmt"

	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/lifecycle"
)

// maxUID is the length of a UID; an annotation may be longer.
const maxUID = 64

// notAdopted is why the volume that a person named is not adopted, as far as that is seen; "" if it is, or nobody named one.
func (f Facts) notAdopted() string {
	named, seen := f.Workspace.Annotations[objects.AnnotationAdopt], f.Observed.Volume
	claim := "PersistentVolumeClaim " + objects.VolumeName(f.Workspace.Name)
	switch {
	case named == "" || named == f.Decision.Status.Volume.UID:
		return ""
	case seen.State == lifecycle.VolumeAbsent:
		return fmt.Sprintf("there is no %s", claim)
	case seen.UID != named:
		return fmt.Sprintf("%s has the UID %s, not %s", claim, seen.UID, head(named, maxUID))
	case seen.Controlled:
		return claim + " is controlled by another object"
	case seen.State == lifecycle.VolumeTerminating:
		return claim + " is being deleted"
	case seen.State == lifecycle.VolumeLost:
		return claim + " has lost its PersistentVolume"
	case f.Detail.Text != "" && f.Decision.Code == lifecycle.CodeNotAdopted:
		return "the API server says: " + head(f.Detail.Text, maxDetail)
	default:
		return ""
	}
}
