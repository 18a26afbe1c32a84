package archive

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// named is the folder of empty objects by which the archives of deleted Workspaces are found by name: archives/named/NAMESPACE/
// NAME/UID/OPERATION. They are in Root, so that they move with the archives.
const named = Root + "named/"

// nameFolder is the folder of the objects of one name. It ends with a slash, so that it is not a prefix of another folder.
func nameFolder(namespace, name string) string { return named + namespace + "/" + name + "/" }

// NameMark is the object by which the archive is found by a Workspace's name. It is not part of the archive: ParseObject refuses
// it.
func (k Key) NameMark(namespace, name string) string {
	return nameFolder(namespace, name) + k.UID + "/" + k.OpID
}

// ParseNameMark parses the name of an object by which an archive is found by a Workspace's name.
func ParseNameMark(object string) (Key, bool) {
	parts := strings.Split(strings.TrimPrefix(object, named), "/")
	if !strings.HasPrefix(object, named) || len(parts) != 4 {
		return Key{}, false
	}
	key, err := NewKey(parts[2], parts[3])
	return key, err == nil
}

// Named lists the archives that deleted Workspaces of a name left behind, the last deletion first. They may be gone.
func Named(ctx context.Context, store Store, namespace, name string) ([]Key, error) {
	var found []Object
	keys := map[string]Key{}
	for object, err := range store.List(ctx, nameFolder(namespace, name)) {
		if err != nil {
			return nil, err
		}
		uid, opID, _ := strings.Cut(strings.TrimPrefix(object.Name, nameFolder(namespace, name)), "/")
		if key, err := NewKey(uid, opID); err == nil {
			found, keys[object.Name] = append(found, object), key
		}
	}
	slices.SortFunc(found, func(a, b Object) int { return b.Modified.Compare(a.Modified) })
	sorted := make([]Key, len(found))
	for i, object := range found {
		sorted[i] = keys[object.Name]
	}
	return sorted, nil
}

// Unname deletes the objects by which archives are found by the name, and returns the archives, the last deletion first. They stay
// kept, and can be named by their keys. The oldest goes first, so that none is ever found in place of a newer one.
func Unname(ctx context.Context, store Store, namespace, name string) ([]Key, error) {
	keys, err := Named(ctx, store, namespace, name)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Backward(keys) {
		if err := store.Delete(ctx, key.NameMark(namespace, name)); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// putName makes the archive known by the name. It is safe to call again.
func putName(ctx context.Context, store Writer, key Key, namespace, name string) error {
	err := store.Put(ctx, key.NameMark(namespace, name), []byte("This archive was kept when the Workspace of this name was deleted.\n"))
	if errors.Is(err, ErrExists) {
		return nil
	}
	return err
}

// dropName deletes the object by which an archive is found by the name of its Workspace. It is safe to call again.
func dropName(ctx context.Context, store Store, key Key) error {
	marker, err := ReadMarker(ctx, store, key)
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrCorrupt) {
		return nil // nobody knows the name; what is found by it is checked anyway
	}
	if err != nil {
		return fmt.Errorf("find the name of the archive: %w", err)
	}
	namespace, name, ok := strings.Cut(marker.Workspace, "/")
	if !ok {
		return nil
	}
	return store.Delete(ctx, key.NameMark(namespace, name))
}
