package message

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/lifecycle"
)

// placeholder is a fact's name in a text.
var placeholder = regexp.MustCompile(`\{[a-zA-Z]+\}`)

// fill puts the facts into a text. Some facts are texts with facts themselves.
func (f Facts) fill(text string) string {
	if !placeholder.MatchString(text) {
		return text
	}
	values := f.values()
	var expand func(string) string
	expand = func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(name string) string {
			if value, known := values[name[1:len(name)-1]]; known {
				return expand(value)
			}
			return name
		})
	}
	return expand(text)
}

// operation is the one that a text is about.
func (f Facts) operation() lifecycle.OperationType {
	status := f.Decision.Status
	switch {
	case f.failedNow() || status.Phase == lifecycle.Failed:
		return status.Error.Operation
	case status.Operation.Type != lifecycle.None && status.Operation.Type != "":
		return status.Operation.Type
	default:
		return f.before().Operation.Type
	}
}

// values are the facts by the names that they have in texts.
func (f Facts) values() map[string]string {
	ws, status, before, operation := f.Workspace, f.Decision.Status, f.before(), f.operation()
	phrases := phrasesOf(operation)
	return map[string]string{
		"name": ws.Name, "namespace": ws.Namespace, "uid": string(ws.UID), "owner": owner(ws), "store": secretOf(ws),
		"pod": objects.PodName(ws.Name), "volume": objects.VolumeName(ws.Name), "job": job(status, before),
		"volumeUID": status.Volume.UID, "epoch": number(status.Volume.Epoch), "seenPod": f.Observed.Pod.UID, "seenVolume": f.Observed.Volume.UID,
		"key": f.key(operation), "archiveKey": status.ArchiveKey, "archiveSize": size(status.Archive.Size),
		"archiveStore": status.Archive.Store, "inStore": inStore(status), "seenStore": f.store(),
		"archiveVolume": status.Archive.VolumeUID, "archivedAt": clock(status.Archive.CompletedAt),
		"state": string(statusconv.Display(status)), "desired": f.desired(), "converged": f.converged(),
		"doing": phrases.doing, "so": phrases.so, "slow": phrases.slow(), "limit": number(int64(statusconv.Limit(ws, operation).Seconds())),
		"grace":   number(max(int64(ws.Spec.TerminationGracePeriodSeconds), 1)),
		"attempt": number(int64(status.Operation.Attempt)), "retryAt": clock(status.Operation.NextRetryAt),
		"restarts": number(int64(status.Restarts)), "startAt": clock(status.NextStartAt),
		"ownerLimit": strconv.Itoa(f.Limits.Owner), "allLimit": strconv.Itoa(f.Limits.All), "moverLimit": strconv.Itoa(f.Limits.Movers),
		"running": f.running(), "stopOne": f.stopOne(),
		"deletionPolicy": string(cmp.Or(ws.Spec.DeletionPolicy, v1alpha1.DeletionDelete)), "lost": f.lost(), "accepted": ws.Annotations[objects.AnnotationAcceptLoss], "instead": instead(status), "besides": besides(status),
		"choice": f.choice(), "archiveRemedy": f.archiveRemedy(), "advice": f.advice(), "volumeLost": f.either(homeGone, volumeGone), "volumeRemedy": f.either(repairHome, repairVolume), "fate": f.fate(), "unarchivable": f.unarchivable(), "letGo": f.letGo(),
	}
}

func (f Facts) desired() string {
	if f.Workspace.DeletionTimestamp != nil {
		return "deletion"
	}
	return string(f.Workspace.Spec.DesiredState)
}

func (f Facts) converged() string {
	switch statusconv.Display(f.Decision.Status) {
	case lifecycle.Running:
		return "Pod {pod} is ready, as desired."
	case lifecycle.Standby:
		return "The home is on volume {volume} and no Pod runs, as desired."
	case lifecycle.Archived:
		return "The home is in the archive {archiveKey}, and there is no volume, as desired."
	default:
		return "There is no Pod, no volume and no archive, as desired."
	}
}

// key is that of the archive which a text is about: the one being made, or the recorded one.
func (f Facts) key(operation lifecycle.OperationType) string {
	if claim := f.before().Operation; operation == lifecycle.Archiving && claim.ID != "" && !claim.PointOfNoReturn && !f.Decision.Status.Operation.PointOfNoReturn {
		return lifecycle.ArchiveKey(string(f.Workspace.UID), claim.ID)
	}
	return f.Decision.Status.ArchiveKey
}

// lost is what a person can accept to be lost.
func (f Facts) lost() string {
	switch f.Decision.Status.Error.Code {
	case lifecycle.CodeArchiveLost, lifecycle.CodeArchiveCorrupt:
		return f.Decision.Status.ArchiveKey
	default:
		return f.Decision.Status.Volume.UID
	}
}

// either chooses between what is said of a volume that is there without its home, and of one that is gone.
func (f Facts) either(there, gone string) string {
	seen := f.Observed.Volume
	if seen.UID != "" && seen.UID == f.Decision.Status.Volume.UID && !seen.Foreign && seen.State != lifecycle.VolumeLost {
		return there
	}
	return gone
}

// store is where the Secret of the store led when it was looked for last.
func (f Facts) store() string {
	if f.Store == "" && f.repeated() {
		return f.Workspace.Status.Error.Context["store"]
	}
	return f.Store
}

// inStore says where the archive is, if that is recorded.
func inStore(status lifecycle.Status) string {
	if status.Archive.Store == "" {
		return ""
	}
	return " in {archiveStore}"
}

// instead is what there is after the loss of a volume was accepted.
func instead(status lifecycle.Status) string {
	if status.ArchiveKey != "" {
		return "the archive {archiveKey}, which may be older"
	}
	return "an empty home"
}

// besides says what else there is beside a volume of which nothing is recorded.
func besides(status lifecycle.Status) string {
	if status.ArchiveKey != "" {
		return ", and there is the archive {archiveKey} too. Kyklos cannot know which is the newer one, and touches neither"
	}
	return ". It is left alone for now"
}

func (f Facts) choice() string {
	if f.Decision.Status.ArchiveKey != "" {
		return chooseVolume
	}
	return adoptVolume
}

// archiveRemedy: only the archive that is the home can be lost; another one is made again. A deletion waits for
// neither.
func (f Facts) archiveRemedy() string {
	if f.operation() == lifecycle.Removing {
		return "The deletion goes on, and leaves no archive behind, although spec.deletionPolicy is {deletionPolicy}."
	}
	if status := f.Decision.Status; status.Error.Reason == lifecycle.DataLost && status.ArchiveKey != "" {
		return repairArchive
	}
	return "The home is on its volume as before."
}

// letGo is how a deletion goes on that waits for its store.
func (f Facts) letGo() string {
	if f.Workspace.DeletionTimestamp == nil {
		return ""
	}
	return letGo
}

// fate is what becomes of the home when the Workspace is deleted.
func (f Facts) fate() string {
	switch policy, status := f.Workspace.Spec.DeletionPolicy, f.Decision.Status; {
	case policy == v1alpha1.DeletionArchive && status.Operation.Type != lifecycle.Removing:
		return "first the home is put into the archive"
	case policy == v1alpha1.DeletionRetain && status.Volume.UID != "":
		return "Pod and Jobs go, and volume {volume} stays"
	case policy != v1alpha1.DeletionDelete && status.ArchiveKey != "":
		return "Pod, Jobs and volume go, and the archive {archiveKey} stays"
	default:
		return "Pod, Jobs and volume go"
	}
}

func (f Facts) unarchivable() string {
	if f.Decision.Status.Phase == lifecycle.Pending {
		return "The home cannot be fetched back from the archive {archiveKey}"
	}
	return "The home cannot be archived, and stays on volume {volume}"
}

// owner is who is counted for the limit.
func owner(ws *v1alpha1.Workspace) string {
	if ws.Spec.Owner != "" {
		return "Owner " + ws.Spec.Owner
	}
	return "Namespace " + ws.Namespace
}

func secretOf(ws *v1alpha1.Workspace) string {
	if ws.Spec.Archive == nil {
		return "(none)"
	}
	return ws.Namespace + "/" + ws.Spec.Archive.StoreRef.Name
}

// job is the mover's, which an attempt that failed has given up.
func job(status, before lifecycle.Status) string {
	if status.Operation.JobName != "" {
		return status.Operation.JobName
	}
	return before.Operation.JobName
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// size prints bytes as people read them, in powers of 1024.
func size(bytes int64) string {
	value, unit := float64(bytes), 0
	for ; value >= 1024 && unit < 4; unit++ {
		value /= 1024
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, []string{"", "KiB", "MiB", "GiB", "TiB"}[unit])
}

func clock(t time.Time) string { return t.UTC().Format(time.RFC3339) }
