package mover

// install makes the staged home the volume's, by one rename that replaces nothing.
func (r *restorer) install(staging string) error {
	from := staging + "/" + homeFolder
	info, err := r.volume.Lstat(from)
	if err != nil {
		return err
	}
	// A folder that may not be written to cannot get another parent.
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

// seal says on the volume what its home is. It must be there first, also after a power failure.
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
