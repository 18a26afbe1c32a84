package message

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/controller/workspace/statusconv"
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/lifecycle"
	"kyklos.io/kyklos/internal/podtemplate"
)

// fields are the data of the templates. A template with an unknown field fails the tests.
type fields struct {
	Name, Namespace, UID, Secret, DeletionPolicy, Accepted string
	Pod, Volume, Job                                       string
	State, Desired                                         string
	Archived, Deleting, Removing                           bool

	// The volume. FolderMissing: it exists without the folder of the home.
	VolumeUID, SeenPod, SeenVolume string
	Epoch                          int64
	FolderMissing                  bool
	// User is the user of the workspace and its movers.
	User int64

	// The recorded archive. Key is the one that the operation is about; Store is where the Secret leads now.
	Key, ArchiveKey, ArchiveSize, ArchiveStore, ArchiveVolume, ArchivedAt, Store string
	ArchiveIsHome                                                                bool
	// ArchiveFolder has all archives of the workspace that made the recorded one.
	ArchiveFolder string
	// RestoreFrom is spec.restoreFrom and From what it means, RestoredFrom what the volume's home was restored from. Searching: nothing is known yet.
	// Left: the volume is the home of a deleted workspace of this name.
	RestoreFrom, From, RestoredFrom, Cause string
	Searching, Left                        bool
	LeftOut                                string
	// KeptKey is the newest archive that was kept under the name, and OlderKey the newest complete one before it. Held: a deletion waits
	// for its archive. VolumeKept: it leaves the volume behind.
	KeptKey, OlderKey string
	Held, VolumeKept  bool

	// The operation and its failure. DeletionEffect follows the name of a deletion. Lost is what can be accepted as lost.
	Doing, DeletionEffect, Slow, Advice, Lost, RetryAt, StartAt string
	Limit, Grace, Attempt, Restarts                             int64

	// The running workspaces of the owner in the namespace. Neighbour is one of them.
	Owner, OwnersRunning, Neighbour string
	Limits                          Limits
}

func (f Facts) fields() fields {
	ws, status, before, operation := f.Workspace, f.Decision.Status, f.before(), f.operation()
	display, texts := statusconv.Display(status), textsOf(operation)
	v := fields{
		Name: ws.Name, Namespace: ws.Namespace, UID: string(ws.UID), Secret: "(none)", Accepted: ws.Annotations[objects.AnnotationAcceptLoss],
		DeletionPolicy: string(cmp.Or(ws.Spec.DeletionPolicy, v1alpha1.DeletionDelete)),
		Pod:            objects.PodName(ws.Name), Volume: objects.VolumeName(ws.Name), Job: cmp.Or(status.Operation.JobName, before.Operation.JobName),
		State: string(display), Desired: string(ws.Spec.DesiredState), Deleting: ws.DeletionTimestamp != nil,
		Archived: display == lifecycle.Archived, Removing: operation == lifecycle.Removing,

		VolumeUID: status.Volume.UID, Epoch: status.Volume.Epoch, SeenPod: f.Observed.Pod.UID, SeenVolume: f.Observed.Volume.UID,
		FolderMissing: f.folderMissing(), User: podtemplate.User(&ws.Spec),

		Key: f.key(operation), ArchiveKey: status.ArchiveKey, ArchiveSize: size(status.Archive.Size), ArchiveStore: status.Archive.Store,
		ArchiveVolume: status.Archive.VolumeUID, ArchivedAt: timestamp(status.Archive.CompletedAt), Store: f.store(),
		LeftOut:       status.Archive.LeftOut,
		ArchiveFolder: path.Dir(path.Dir(status.ArchiveKey)), RestoreFrom: ws.Spec.RestoreFrom, From: cmp.Or(ws.Spec.RestoreFrom, lifecycle.FromLatest), RestoredFrom: status.Volume.RestoredFrom,
		Searching: status.Phase == "", Left: f.Observed.Volume.Left, Cause: strings.TrimRight(tail(f.Cause), "."),
		KeptKey: f.Newest.Key, OlderKey: f.Newest.Older, Held: f.held(), VolumeKept: ws.Spec.DeletionPolicy == v1alpha1.DeletionRetain && status.Volume.UID != "",
		ArchiveIsHome: status.Error.Reason == lifecycle.DataLost && status.ArchiveKey != "",

		DeletionEffect: f.deletionEffect(), Lost: f.lost(), RetryAt: timestamp(status.Operation.NextRetryAt), StartAt: timestamp(status.NextStartAt),
		Limit: int64(statusconv.Limit(ws, operation).Seconds()), Grace: max(int64(ws.Spec.TerminationGracePeriodSeconds), 1),
		Attempt: int64(status.Operation.Attempt), Restarts: int64(status.Restarts),

		Owner: cmp.Or(ws.Spec.Owner, ws.Namespace), Limits: f.Limits,
	}
	if v.Deleting {
		v.Desired = "deletion"
	}
	if ws.Spec.Archive != nil {
		v.Secret = ws.Namespace + "/" + ws.Spec.Archive.StoreRef.Name
	}
	v.OwnersRunning, v.Neighbour = f.running()
	// These are texts with fields of their own.
	v.Doing, v.Slow, v.Advice = fill(texts.doing, v), fill(texts.slow(), v), fill(cmp.Or(advice[mover.Code(f.Detail.Code)], moverLog), v)
	return v
}

// parsed caches the templates by their text.
var parsed sync.Map

// fill executes a template. What does not come from the tables of this package must not be part of it.
func fill(text string, v fields) string {
	if !strings.Contains(text, "{{") {
		return text
	}
	var out strings.Builder
	known, ok := parsed.Load(text)
	if !ok {
		known = template.Must(template.New("").Parse(text))
		parsed.Store(text, known)
	}
	if err := known.(*template.Template).Execute(&out, v); err != nil {
		return fmt.Sprintf("!(%v)", err)
	}
	return out.String()
}

// operation is the one that a message is about.
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

// key is the key of the archive that a message is about: the one being made, or the recorded one.
func (f Facts) key(operation lifecycle.OperationType) string {
	was := f.before().Operation
	if operation == lifecycle.Archiving && was.ID != "" && !was.PointOfNoReturn && !f.Decision.Status.Operation.PointOfNoReturn {
		return lifecycle.ArchiveKey(string(f.Workspace.UID), was.ID)
	}
	return f.Decision.Status.ArchiveKey
}

// lost is the archive or volume whose loss can be accepted.
func (f Facts) lost() string {
	switch f.Decision.Status.Error.Code {
	case lifecycle.CodeArchiveLost, lifecycle.CodeArchiveCorrupt:
		return f.Decision.Status.ArchiveKey
	default:
		return f.Decision.Status.Volume.UID
	}
}

func (f Facts) folderMissing() bool {
	seen := f.Observed.Volume
	return seen.UID != "" && seen.UID == f.Decision.Status.Volume.UID && !seen.Foreign && seen.State != lifecycle.VolumeLost
}

// store is the address that the Secret led to when it was last checked.
func (f Facts) store() string {
	if f.Store == "" && f.repeated() {
		return f.Workspace.Status.Error.Context["store"]
	}
	return f.Store
}

// deletionEffect is what happens to the home when the Workspace is deleted.
func (f Facts) deletionEffect() string {
	switch policy, status := f.Workspace.Spec.DeletionPolicy, f.Decision.Status; {
	case policy == v1alpha1.DeletionArchive && status.Operation.Type != lifecycle.Removing:
		return ": the home is archived first"
	case policy == v1alpha1.DeletionRetain && status.Volume.UID != "":
		return ": the Pod and Jobs are deleted, volume " + objects.VolumeName(f.Workspace.Name) + " is kept"
	case policy != v1alpha1.DeletionDelete && status.ArchiveKey != "":
		return ": the Pod, Jobs and volume are deleted, archive " + status.ArchiveKey + " is kept"
	default:
		return ": the Pod, Jobs and volume are deleted"
	}
}

// maxNamed is how many running workspaces are named.
const maxNamed = 3

// running lists the owner's running workspaces after a colon, and returns one of them.
func (f Facts) running() (list, neighbour string) {
	if len(f.Running) == 0 {
		return "", ""
	}
	names := slices.Sorted(slices.Values(f.Running))
	neighbour = names[0]
	if more := len(names) - maxNamed; more > 0 {
		names = names[:maxNamed]
		names[maxNamed-1] += fmt.Sprintf(" and %d more", more)
	}
	return ": " + strings.Join(names, ", "), neighbour
}

// size formats bytes in powers of 1024.
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

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
