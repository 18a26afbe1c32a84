package archive

import (
	"context"
	"errors"
	"strings"
)

// keptName lies beside an archive that was left behind on purpose.
const keptName = "kept"

// KeptMark is the name of the object that keeps the archive from being collected. It is not an object
// of the archive: ParseObject refuses it.
func (k Key) KeptMark() string { return k.Folder() + keptName }

// ParseKeptMark reads the name of a mark.
func ParseKeptMark(name string) (Key, bool) {
	folder, ok := strings.CutSuffix(name, keptName)
	if !ok {
		return Key{}, false
	}
	key, err := ParseKey(folder + dataName)
	return key, err == nil
}

// Keep marks the archive of a Workspace that is deleted as left behind on purpose. It is safe to call
// again. Whoever takes the mark away leaves the archive to the collection.
func Keep(ctx context.Context, store Writer, key Key) error {
	err := store.Put(ctx, key.KeptMark(), []byte("Kyklos does not collect this archive while this object is here.\n"))
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

// IsKept tells whether the archive is marked.
func IsKept(ctx context.Context, store Reader, key Key) (bool, error) {
	_, err := store.Head(ctx, key.KeptMark())
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
