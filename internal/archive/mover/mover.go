// Package mover moves one home between a volume and one archive. It runs in the Jobs of ARCHIVING and RESTORING, and
// does not depend on Kubernetes.
//
// Both directions can be killed at any point and run again, also concurrently with a run that was believed dead.
// Archiving only creates objects, so stored objects never change; the marker is written last, after the stored data have
// been read back and compared with the volume. Restoring moves the home into place by one rename, after all of it was
// verified and synced to disk.
//
// On the volume the home is the folder home; only that is mounted in the workspace. Beside it is the mover's folder
// .kyklos.
package mover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/encryption"
	"kyklos.io/kyklos/internal/archive/home"
)

const (
	homeFolder = "home"
	ownFolder  = ".kyklos"
)

// Job describes one run.
type Job struct {
	Store archive.MoverStore
	Key   archive.Key
	// Volume is where the volume is mounted.
	Volume string
	// VolumeUID is the UID of its PersistentVolumeClaim.
	VolumeUID string
	// Epoch is how often a Pod was started on it; for archiving.
	Epoch int64
	// RestoredFrom is the archive that the home to archive was restored from; empty if from none, or if it is not known.
	RestoredFrom string
	// Workspace is NAMESPACE/NAME, Version this program's; for the marker.
	Workspace, Version string
	// Operation is the id of the restoring operation.
	Operation string
	// SHA256 is the recorded sum of the data to restore; empty uses the marker's.
	SHA256 string
	// Recipients are those for whom the data are encrypted; none for plain data. Identities open what is encrypted.
	Recipients []string
	Identities encryption.Identities
	// Report, if not nil, is called with every progress, up to thousands of times per second. of returns the total, zero
	// until it is known; it may be called as long as the job runs.
	Report func(step archive.Step, done home.Progress, of func() home.Progress)

	// capacity replaces capacityOf in tests.
	capacity func(volume string) (int64, error)
}

// Result is the result of a run. As JSON it is the container's termination message.
type Result struct {
	// Code is OK or the reason of the failure.
	Code Code `json:"code"`
	// Message is for people.
	Message string `json:"message,omitempty"`
	Key     string `json:"key,omitempty"`
	// SHA256 and SizeBytes are those of the stored data; Tree, Entries and Bytes those of the home.
	SHA256    string `json:"sha256,omitempty"`
	SizeBytes int64  `json:"sizeBytes,omitempty"`
	Tree      string `json:"tree,omitempty"`
	Entries   int64  `json:"entries,omitempty"`
	Bytes     int64  `json:"bytes,omitempty"`
	// AlreadyDone: an earlier run had finished it.
	AlreadyDone bool `json:"alreadyDone,omitempty"`
	// LeftOut names some of what could not be kept, LeftOutCount counts all of it, and LeftOutKinds by its kind.
	LeftOut      []string         `json:"leftOut,omitempty"`
	LeftOutCount int64            `json:"leftOutCount,omitempty"`
	LeftOutKinds map[string]int64 `json:"leftOutKinds,omitempty"`
}

func result(marker archive.Marker, summary home.Summary) Result {
	return Result{
		Code: OK, Key: marker.Key, SHA256: marker.SHA256, SizeBytes: marker.Size, Tree: marker.Tree, Entries: marker.Entries, Bytes: marker.Bytes,
		LeftOut: summary.LeftOut, LeftOutCount: summary.LeftOutCount, LeftOutKinds: summary.LeftOutKinds,
	}
}

func (j Job) report(step archive.Step, of func() home.Progress) func(home.Progress) {
	if j.Report == nil {
		return nil
	}
	return func(done home.Progress) { j.Report(step, done, of) }
}

// knownTotal is a total that is known from the start.
func knownTotal(entries, bytes int64) func() home.Progress {
	return func() home.Progress { return home.Progress{Entries: entries, Bytes: bytes} }
}

// Archive stores the volume's home, unless it is stored already. After nil the archive is committed.
func Archive(ctx context.Context, job Job) (Result, error) {
	marker, summary, err := job.archive(ctx)
	if err != nil {
		return Result{}, archiveFailure(err)
	}
	done := result(marker, summary)
	done.AlreadyDone = summary.Tree == ""
	return done, nil
}

// archive is the commit protocol. An empty summary without an error means that the archive was committed before.
func (j Job) archive(ctx context.Context) (archive.Marker, home.Summary, error) {
	want := archive.Want{VolumeUID: j.VolumeUID, Epoch: j.Epoch}
	marker, err := archive.Committed(ctx, j.Store, j.Key, want)
	if err == nil || !errors.Is(err, archive.ErrNotFound) {
		return marker, home.Summary{}, err
	}
	if err := j.canReadBack(); err != nil {
		return archive.Marker{}, home.Summary{}, err
	}
	folder, err := j.openHome()
	if err != nil {
		return archive.Marker{}, home.Summary{}, err
	}
	if folder != nil {
		defer func() { _ = folder.Close() }()
	}
	summary, err := j.upload(ctx, folder)
	if err != nil {
		return archive.Marker{}, home.Summary{}, err
	}
	if err := j.checkRoom(summary.Allocated); err != nil {
		return archive.Marker{}, home.Summary{}, err
	}
	marker, err = j.readBack(ctx, summary)
	if err != nil {
		return archive.Marker{}, home.Summary{}, err
	}
	if err := j.Store.Put(ctx, j.Key.Marker(), []byte(marker.String())); errors.Is(err, archive.ErrExists) {
		// Another run came first. It described the same stored data.
		want.SHA256 = marker.SHA256
		marker, err = archive.Committed(ctx, j.Store, j.Key, want)
		return marker, summary, err
	} else if err != nil {
		return archive.Marker{}, home.Summary{}, err
	}
	return marker, summary, nil
}

// openHome opens the home. Only of a volume on which nothing ever ran may it be missing: then it is nil. Nothing else may be on the
// volume, which is deleted when the home is in the archive.
func (j Job) openHome() (*os.Root, error) {
	volume, err := os.OpenRoot(j.Volume)
	if err != nil {
		return nil, err
	}
	defer func() { _ = volume.Close() }()
	content, err := readContent(volume, contentName)
	known := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if known && j.RestoredFrom != "" && content.Key != j.RestoredFrom {
		return nil, fmt.Errorf("%w: its home was restored from %s, not from %s", errVolume, content.Key, j.RestoredFrom)
	}
	names, err := beside(volume)
	if err != nil {
		return nil, err
	}
	folder, err := volume.OpenRoot(homeFolder)
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing && (known || j.Epoch > 0):
		return nil, noHome(names)
	case err != nil && !missing:
		return nil, err
	case len(names) > 0:
		if folder != nil {
			err = folder.Close()
		}
		return nil, errors.Join(fmt.Errorf("%w: %s", errBeside, quoted(names)), err)
	case missing:
		return nil, nil
	}
	return folder, nil
}

// upload stores the data, unless an earlier run has: the home has not changed since, and readBack verifies it.
func (j Job) upload(ctx context.Context, folder *os.Root) (home.Summary, error) {
	_, err := j.Store.Head(ctx, j.Key.Data())
	if err == nil {
		return home.Survey(ctx, folder)
	}
	if !errors.Is(err, archive.ErrNotFound) {
		return home.Summary{}, err
	}
	of, stop := measured(ctx, folder)
	defer stop()
	read, write := io.Pipe()
	var summary home.Summary
	packed := make(chan error, 1)
	go func() {
		var err error
		summary, err = j.pack(ctx, folder, write, of)
		packed <- err
		_ = write.CloseWithError(err) // EOF, if it is nil
	}()
	err = j.Store.PutStream(ctx, j.Key.Data(), read)
	_ = read.CloseWithError(io.ErrClosedPipe) // stops Pack if it is still running
	packing := <-packed
	switch {
	case err == nil:
		return summary, packing
	case !errors.Is(err, archive.ErrExists):
		return home.Summary{}, err
	case packing != nil: // another mover was faster, so Pack was stopped
		return home.Survey(ctx, folder)
	}
	return summary, nil
}

// readBack reads the stored data completely and returns their marker. They must be the home of summary.
func (j Job) readBack(ctx context.Context, summary home.Summary) (archive.Marker, error) {
	body, object, err := j.Store.Get(ctx, j.Key.Data())
	if err != nil {
		return archive.Marker{}, err
	}
	defer func() { _ = body.Close() }()
	summed := newSummed(body)
	content, encryptedFor, err := j.openStored(summed)
	if err != nil {
		return archive.Marker{}, err
	}
	limits := home.Limits{Entries: summary.Entries, Bytes: summary.Bytes}
	stored, err := home.Inspect(ctx, content, limits, j.report(archive.Verifying, knownTotal(summary.Entries, summary.Bytes)))
	if err != nil {
		return archive.Marker{}, fmt.Errorf("%w: %w", errReadBack, err)
	}
	if stored.Tree != summary.Tree || summed.read != object.Size {
		return archive.Marker{}, fmt.Errorf("%w: the stored home is %s in %d of %d bytes, the volume's home is %s",
			errReadBack, stored.Tree, summed.read, object.Size, summary.Tree)
	}
	return archive.Marker{
		SHA256: summed.sum(), Key: j.Key.Data(), Size: object.Size, Tree: stored.Tree, Entries: stored.Entries, Bytes: stored.Bytes,
		VolumeUID: j.VolumeUID, Epoch: j.Epoch, Workspace: j.Workspace, Mover: j.Version,
		EncryptedFor: encryptedFor, LeftOut: home.DescribeLeftOut(summary.LeftOutKinds, summary.LeftOut),
	}, nil
}
