package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Want describes the expected archive. An empty VolumeUID means any volume and epoch: for a restore, the key and the sum
// are enough.
type Want struct {
	VolumeUID string
	Epoch     int64
	// SHA256 is the recorded sum, 64 hexadecimal digits; empty means any.
	SHA256 string
}

// Committed reads the marker and checks the size of the data: nil means that the expected archive is complete and in the
// store now (D4, D5). ErrNotFound: marker or data are missing. ErrCorrupt: they are not the expected ones. The data are
// not read: they had been read back before the marker was written.
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
		return Marker{}, fmt.Errorf("%s: %w", key, corrupt("the object has %d bytes, but its marker says %d", object.Size, marker.Size))
	}
	return marker, nil
}

// ReadMarker reads the marker of key and checks that it names key's data.
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
		err = corrupt("the marker belongs to another archive, %s", marker.Key)
	}
	if err != nil {
		return Marker{}, fmt.Errorf("%s: %w", key.Marker(), err)
	}
	return marker, nil
}

func (w Want) matches(marker Marker) error {
	switch {
	case w.VolumeUID != "" && (marker.VolumeUID != w.VolumeUID || marker.Epoch != w.Epoch):
		return corrupt("it was made from volume %s at epoch %d, not from %s at %d", marker.VolumeUID, marker.Epoch, w.VolumeUID, w.Epoch)
	case w.SHA256 != "" && marker.SHA256 != w.SHA256:
		return corrupt("its sum is %s, but %s was recorded", marker.SHA256, w.SHA256)
	}
	return nil
}

// Discard deletes an archive: its name, then the marker, so that a marker never exists without its data, and the mover's note
// last. It is safe to call again. No mover of this key may be running.
func Discard(ctx context.Context, store Store, key Key) error {
	if err := dropName(ctx, store, key); err != nil {
		return err
	}
	for _, name := range []string{key.Marker(), key.Data()} {
		if err := store.Delete(ctx, name); err != nil {
			return err
		}
	}
	return DropNote(ctx, store, key)
}

// Lost reports whether err means that data are lost or damaged; probe is HeadBucket's error. A missing bucket and an
// unreachable store say nothing about the data (D23).
func Lost(err, probe error) bool {
	return probe == nil && (errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt))
}
