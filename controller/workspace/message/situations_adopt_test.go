package message_test

import (
	"k8s.io/utils/ptr"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/internal/lifecycle"
)

// adoptions are about volumes that a person chose.
func adoptions(home lifecycle.VolumeView) []situation {
	none := lifecycle.None
	names := func(uid string) func(*v1alpha1.Workspace) {
		return func(ws *v1alpha1.Workspace) {
			ws.Annotations = map[string]string{"kyklos.io/adopt-volume": uid}
		}
	}
	adopted := func(phase lifecycle.State, operation lifecycle.OperationType) lifecycle.Status {
		s := status(phase, operation)
		s.Volume = lifecycle.Volume{UID: volumeUID, Content: lifecycle.Adopted, Epoch: 1}
		return s
	}
	seen := lifecycle.Observation{Volume: home}
	stranger := func(change func(*lifecycle.VolumeView)) lifecycle.Observation {
		v := lifecycle.VolumeView{State: lifecycle.VolumeBound, Foreign: true, UID: "v9"}
		change(&v)
		return lifecycle.Observation{Volume: v}
	}
	empty := lifecycle.Status{Phase: lifecycle.Pending, Operation: lifecycle.Operation{Type: none}}
	noHome := message.Detail{Text: `the volume has no folder home with files; in its root is "thesis.txt"`, Code: "HOME_MISSING", ExitCode: ptr.To(int32(13))}
	all := []situation{
		{name: "a volume is adopted", before: empty, code: lifecycle.CodeAdopted, after: func(s *lifecycle.Status) { s.Volume = adopted("", none).Volume }, seen: seen, alter: names(volumeUID)},
		{name: "an adopted volume without a home is not started", before: adopted(lifecycle.Standby, lifecycle.Starting), code: lifecycle.CodeVolumeLost,
			after: stalled(lifecycle.DataLost, lifecycle.CodeVolumeLost), seen: seen, detail: noHome, alter: names(volumeUID)},
		{name: "nor archived", before: adopted(lifecycle.Standby, lifecycle.Archiving), code: lifecycle.CodeVolumeLost,
			after: stalled(lifecycle.DataLost, lifecycle.CodeVolumeLost), seen: seen, detail: noHome, alter: names(volumeUID)},
		{name: "files beside the home", before: status(lifecycle.Standby, lifecycle.Archiving), code: lifecycle.CodeFilesBesideHome,
			after: failed(lifecycle.ActionFailed, lifecycle.CodeFilesBesideHome), seen: seen,
			detail: message.Detail{Text: `beside the folder home, the volume holds: "thesis.txt"`, Code: "FILES_BESIDE_HOME", ExitCode: ptr.To(int32(11))}},
		{name: "another UID is named", before: empty, code: lifecycle.CodeNotAdopted, after: func(s *lifecycle.Status) { s.RetryToken = "v8" }, alter: names("v8"),
			seen: stranger(func(*lifecycle.VolumeView) {})},
		{name: "a stranger's volume, and another UID is named", before: status(lifecycle.Pending, lifecycle.Provisioning), code: lifecycle.CodeVolumeForeign, alter: names("v8"),
			after: failed(lifecycle.Mismatch, lifecycle.CodeVolumeForeign), seen: stranger(func(*lifecycle.VolumeView) {})},
		{name: "the API server refuses the adoption", before: empty, code: lifecycle.CodeNotAdopted, alter: names("v9"), seen: stranger(func(*lifecycle.VolumeView) {}),
			detail: message.Detail{Text: "persistentvolumeclaims is forbidden", StatusCode: 403}},
	}
	for name, change := range map[string]func(*lifecycle.VolumeView){
		"a named volume is controlled": func(v *lifecycle.VolumeView) { v.Controlled = true },
		"a named volume is going":      func(v *lifecycle.VolumeView) { v.State = lifecycle.VolumeTerminating },
		"a named volume is lost":       func(v *lifecycle.VolumeView) { v.State = lifecycle.VolumeLost },
		"a named volume is not there":  func(v *lifecycle.VolumeView) { *v = lifecycle.VolumeView{} },
	} {
		all = append(all, situation{name: name, before: empty, code: lifecycle.CodeNotAdopted, after: func(s *lifecycle.Status) { s.RetryToken = "v9" }, alter: names("v9"), seen: stranger(change)})
	}
	return all
}
