package mover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/encryption"
	"kyklos.io/kyklos/internal/archive/home"
)

// Restore restores the archived home to the volume, unless it is there already. After nil the home is complete, synced
// and verified. A home of unknown origin is never replaced.
func Restore(ctx context.Context, job Job) (Result, error) {
	marker, err := job.readMarker(ctx)
	if err != nil {
		return Result{}, err
	}
	volume, err := os.OpenRoot(job.Volume)
	if err != nil {
		return Result{}, restoreFailure(err)
	}
	defer func() { _ = volume.Close() }()
	r := &restorer{job: job, marker: marker, volume: volume, want: origin{
		Key: job.Key.Data(), SHA256: marker.SHA256, VolumeUID: job.VolumeUID, Operation: job.Operation,
	}}
	already, summary, err := r.run(ctx)
	if err != nil {
		return Result{}, restoreFailure(err)
	}
	done := result(marker, summary)
	done.AlreadyDone = already
	return done, nil
}

func (j Job) readMarker(ctx context.Context) (archive.Marker, error) {
	marker, err := archive.ReadMarker(ctx, j.Store, j.Key)
	if errors.Is(err, archive.ErrNotFound) {
		return marker, &Failure{Code: MetaNotFound, err: err}
	}
	if err == nil && j.SHA256 != "" && j.SHA256 != marker.SHA256 {
		err = fmt.Errorf("%w: its marker says sha256:%s, but sha256:%s was recorded", archive.ErrCorrupt, marker.SHA256, j.SHA256)
	}
	if err != nil {
		return marker, restoreFailure(err)
	}
	return marker, nil
}

type restorer struct {
	job    Job
	marker archive.Marker
	volume *os.Root
	want   origin
}

func (r *restorer) run(ctx context.Context) (already bool, summary home.Summary, err error) {
	if err := r.volume.Mkdir(ownFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, summary, err
	}
	held, err := lock(r.volume)
	if err != nil {
		return false, summary, err
	}
	defer func() { _ = held.Close() }()
	if done, err := r.done(); done || err != nil {
		return done, summary, err
	}
	if done, err := r.resume(); done || err != nil {
		return done, summary, err
	}
	if err := r.removeEmptyHome(); err != nil {
		return false, summary, err
	}
	staging := ownFolder + "/" + stagingPrefix + r.job.Operation
	summary, err = r.fetch(ctx, staging)
	if err != nil {
		// A partial home is useless. A killed run leaves it to the next one.
		return false, summary, errors.Join(err, clear(r.volume, staging))
	}
	return false, summary, r.install(staging)
}

// done reports whether the volume already has the home.
func (r *restorer) done() (bool, error) {
	content, err := readContent(r.volume, contentName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if !content.same(r.want) {
		return false, fmt.Errorf("%w: it was restored from %s, sha256:%s, on volume %s", errHome, content.Key, content.SHA256, content.VolumeUID)
	}
	now, err := inode(r.volume, homeFolder)
	if err != nil || now == 0 {
		return false, errors.Join(errHome, err, errors.New("the volume says what was restored, but the folder home is missing"))
	}
	return true, nil
}

// resume finishes a run that was killed after it had moved the home into place, and deletes what other runs left.
func (r *restorer) resume() (bool, error) {
	left, err := staged(r.volume)
	if err != nil {
		return false, err
	}
	now, err := inode(r.volume, homeFolder)
	if err != nil {
		return false, err
	}
	for _, staging := range left {
		content, err := readContent(r.volume, staging+"/content.json")
		ours := err == nil && now != 0 && content.Inode == now
		if ours && content.same(r.want) {
			return true, r.seal(staging)
		}
		if ours { // an abandoned operation put it in place, and no workspace has used it
			if err := r.volume.Rename(homeFolder, staging+"/abandoned"); err != nil {
				return false, err
			}
		}
		if err := clear(r.volume, staging); err != nil {
			return false, err
		}
	}
	return false, nil
}

// removeEmptyHome deletes an empty folder home, such as Kubernetes creates to mount it. It refuses any other.
func (r *restorer) removeEmptyHome() error {
	entries, err := readFolder(r.volume, homeFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(entries) > 0 {
		return fmt.Errorf("%w: it contains %q", errHome, entries[0].Name())
	}
	return r.volume.Remove(homeFolder)
}

// fetch fills the staging folder with the home and its content.json. All of it is verified and synced to disk.
func (r *restorer) fetch(ctx context.Context, staging string) (home.Summary, error) {
	if err := r.volume.MkdirAll(staging+"/"+homeFolder, 0o700); err != nil {
		return home.Summary{}, err
	}
	folder, err := r.volume.OpenRoot(staging + "/" + homeFolder)
	if err != nil {
		return home.Summary{}, err
	}
	defer func() { _ = folder.Close() }()
	summary, err := r.unpack(ctx, folder)
	if err != nil {
		return home.Summary{}, err
	}
	content := r.want
	if content.Inode, err = inode(r.volume, staging+"/"+homeFolder); err != nil {
		return home.Summary{}, err
	}
	text, err := json.Marshal(content)
	if err != nil {
		return home.Summary{}, err
	}
	if err := r.volume.WriteFile(staging+"/content.json", text, 0o600); err != nil {
		return home.Summary{}, err
	}
	return summary, home.Flush(folder)
}

func (r *restorer) unpack(ctx context.Context, folder *os.Root) (home.Summary, error) {
	if err := r.job.canOpen(r.marker); err != nil {
		return home.Summary{}, err
	}
	body, object, err := r.job.Store.Get(ctx, r.job.Key.Data())
	if err != nil {
		return home.Summary{}, err
	}
	defer func() { _ = body.Close() }()
	if object.Size != r.marker.Size {
		return home.Summary{}, fmt.Errorf("%w: the object has %d bytes, but its marker says %d", archive.ErrCorrupt, object.Size, r.marker.Size)
	}
	summed := newSummed(body)
	content, _, err := encryption.Open(summed, r.job.Identities)
	if err != nil {
		return home.Summary{}, r.diagnose(ctx, err)
	}
	limits := home.Limits{Entries: r.marker.Entries, Bytes: r.marker.Bytes}
	summary, err := home.Unpack(ctx, folder, content, limits, r.job.report(archive.Unpacking, knownTotal(r.marker.Entries, r.marker.Bytes)))
	if err != nil {
		return home.Summary{}, r.diagnose(ctx, err)
	}
	if sum := summed.sum(); sum != r.marker.SHA256 || summary.Tree != r.marker.Tree {
		return home.Summary{}, fmt.Errorf("%w: the data are sha256:%s with the home %s, but the marker says sha256:%s with %s",
			archive.ErrCorrupt, sum, summary.Tree, r.marker.SHA256, r.marker.Tree)
	}
	return summary, nil
}

// diagnose finds out whether a stream could not be unpacked because of the stored data or because of the volume. It reads
// the data again for their sum.
func (r *restorer) diagnose(ctx context.Context, failed error) error {
	if errors.Is(failed, archive.ErrUnreachable) || ctx.Err() != nil {
		return failed
	}
	body, _, err := r.job.Store.Get(ctx, r.job.Key.Data())
	if err != nil {
		return errors.Join(err, failed)
	}
	defer func() { _ = body.Close() }()
	summed := newSummed(body)
	if _, err := io.Copy(io.Discard, summed); err != nil {
		return errors.Join(err, failed)
	}
	if sum := summed.sum(); sum != r.marker.SHA256 {
		return fmt.Errorf("%w: the data are sha256:%s, but the marker says sha256:%s: %w", archive.ErrCorrupt, sum, r.marker.SHA256, failed)
	}
	return failed
}

// install moves the staged home into place by one rename that replaces nothing.
func (r *restorer) install(staging string) error {
	from := staging + "/" + homeFolder
	info, err := r.volume.Lstat(from)
	if err != nil {
		return err
	}
	// A read-only folder cannot be moved to another parent.
	if err := r.volume.Chmod(from, info.Mode()|0o200); err != nil {
		return err
	}
	if err := r.volume.Rename(from, homeFolder); err != nil {
		return err
	}
	if err := r.volume.Chmod(homeFolder, info.Mode()); err != nil {
		return err
	}
	return r.seal(staging)
}
