package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Want is what an archive must have been made of to be the one that is looked for. An empty
// VolumeUID means any volume and epoch: to restore, the key and the sum say enough.
type Want struct {
	VolumeUID string
	Epoch     int64
	// SHA256 is the sum that was recorded, 64 hexadecimal digits; empty means any.
	SHA256 string
}

// Committed reads the marker and looks at the data: nil means that the archive is complete, is the
// one that is wanted, and is in the store now, with the size that its marker says (D4, D5).
// ErrNotFound: marker or data are missing. ErrCorrupt: they are not what they should be. The data
// themselves are not read: the marker was written after they had been read back.
func Committed(ctx context.Context, store Reader, key Key, want Want) (Marker, error) {
	marker, err := ReadMarker(ctx, store, key)
	if err != nil {
		return Marker{}, err
	}
	if err := want.matches(marker); err != nil {
		return Marker{}, fmt.Errorf("%s: %w", key.Marker(), err)
	}
	object, err := store.Head(ctx, key.Data())
	if err != nil {
		return Marker{}, err
	}
	if object.Size != marker.Size {
		return Marker{}, fmt.Errorf("%s: %w", key, corrupt("the object has %d bytes, its marker says %d", object.Size, marker.Size))
	}
	return marker, nil
}

// ReadMarker reads the marker of key, and holds it to name key's data.
func ReadMarker(ctx context.Context, store Reader, key Key) (Marker, error) {
	body, _, err := store.Get(ctx, key.Marker())
	if err != nil {
		return Marker{}, err
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(io.LimitReader(body, MaxMarkerBytes+1))
	if err != nil {
		return Marker{}, fmt.Errorf("%s: %w", key.Marker(), err)
	}
	marker, err := ParseMarker(text)
	if err == nil && marker.Key != key.Data() {
		err = corrupt("the marker is of another archive, %s", marker.Key)
	}
	if err != nil {
		return Marker{}, fmt.Errorf("%s: %w", key.Marker(), err)
	}
	return marker, nil
}

func (w Want) matches(marker Marker) error {
	switch {
	case w.VolumeUID != "" && (marker.VolumeUID != w.VolumeUID || marker.Epoch != w.Epoch):
		return corrupt("it was made of volume %s at epoch %d, not of %s at %d", marker.VolumeUID, marker.Epoch, w.VolumeUID, w.Epoch)
	case w.SHA256 != "" && marker.SHA256 != w.SHA256:
		return corrupt("its sum is %s, recorded was %s", marker.SHA256, w.SHA256)
	}
	return nil
}

// Discard deletes an archive: the marker first, so that at no time a marker stands without its
// data, and the note that a mover may have left last. It is safe to call again. No mover of this key may be alive.
func Discard(ctx context.Context, store Store, key Key) error {
	for _, name := range []string{key.Marker(), key.Data()} {
		if err := store.Delete(ctx, name); err != nil {
			return err
		}
	}
	return DropNote(ctx, store, key)
}

// Lost tells whether err means that data are gone or damaged, now that the bucket itself has
// answered; probe is HeadBucket's error. A missing bucket, like a store that is out of reach, is a
// matter of the way to the data, not of the data (D23).
func Lost(err, probe error) bool {
	return probe == nil && (errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt))
}
