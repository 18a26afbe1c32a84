package archive

import (
	"context"
	"errors"
	"strings"
)

// keptName is the object next to an archive that is kept on purpose.
const keptName = "kept"

// KeptMark is the name of the object that excludes the archive from garbage collection. It is not part of the archive:
// ParseObject refuses it.
func (k Key) KeptMark() string { return k.Folder() + keptName }

// ParseKeptMark parses the name of a mark.
func ParseKeptMark(name string) (Key, bool) {
	folder, ok := strings.CutSuffix(name, keptName)
	if !ok {
		return Key{}, false
	}
	key, err := ParseKey(folder + dataName)
	return key, err == nil
}

// Keep marks the archive of a deleted Workspace as kept on purpose, after it made it known by the Workspace's name. It is safe
// to call again. Without the mark the archive is garbage collected.
func Keep(ctx context.Context, store Writer, key Key, namespace, name string) error {
	if err := putName(ctx, store, key, namespace, name); err != nil {
		return err
	}
	err := store.Put(ctx, key.KeptMark(), []byte("Kyklos does not collect this archive while this object is here.\n"))
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

// IsKeptAs reports whether the archive is marked, and is found by the name: a clone is kept under a name of its own.
func IsKeptAs(ctx context.Context, store Reader, key Key, namespace, name string) (bool, error) {
	for _, mark := range []string{key.KeptMark(), key.NameMark(namespace, name)} {
		if _, err := store.Head(ctx, mark); errors.Is(err, ErrNotFound) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	return true, nil
}

// IsKept reports whether the archive is marked.
func IsKept(ctx context.Context, store Reader, key Key) (bool, error) {
	_, err := store.Head(ctx, key.KeptMark())
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
