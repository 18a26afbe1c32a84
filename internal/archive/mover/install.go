package mover

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

// seal stores the origin of the home, which must be synced to disk first.
func (r *restorer) seal(staging string) error {
	if err := syncFolder(r.volume, "."); err != nil {
		return err
	}
	if err := r.volume.Rename(staging+"/content.json", contentName); err != nil {
		return err
	}
	if err := syncFolder(r.volume, ownFolder); err != nil {
		return err
	}
	return clear(r.volume, staging)
}
