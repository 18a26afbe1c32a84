package archive

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Root is the folder of all archives in a store, below the store's own prefix.
const Root = "archives/"

const (
	dataName     = "home.tar.gz"
	markerSuffix = ".meta"
)

// Key names one archive: the Workspace's metadata.uid and the id of the operation that made it, both lowercase UUIDs
// (W26). A later Workspace of the same name has another UID, so it never gets another owner's home.
type Key struct{ UID, OpID string }

// NewKey is the key of an archive. The error names the part that is not a UUID.
func NewKey(uid, opID string) (Key, error) {
	if !canonical(uid) {
		return Key{}, fmt.Errorf("the workspace's uid %q must be a lowercase UUID", uid)
	}
	if !canonical(opID) {
		return Key{}, fmt.Errorf("the operation's id %q must be a lowercase UUID", opID)
	}
	return Key{UID: uid, OpID: opID}, nil
}

// ParseKey parses the name of an archive's data, archives/UID/OPERATION/home.tar.gz. It accepts only what Data returns.
func ParseKey(name string) (Key, error) {
	rest, ok := strings.CutPrefix(name, Root)
	uid, rest, ok2 := strings.Cut(rest, "/")
	opID, last, ok3 := strings.Cut(rest, "/")
	if !ok || !ok2 || !ok3 || last != dataName {
		return Key{}, fmt.Errorf("%q is not an archive: it must be %sUID/OPERATION/%s", name, Root, dataName)
	}
	return NewKey(uid, opID)
}

// ParseObject parses the name of an archive's data or marker.
func ParseObject(name string) (key Key, marker bool, err error) {
	data, marker := strings.CutSuffix(name, markerSuffix)
	key, err = ParseKey(data)
	return key, marker, err
}

// Data is the name of the archive's data.
func (k Key) Data() string { return k.Folder() + dataName }

// Marker is the name of the marker that commits it.
func (k Key) Marker() string { return k.Data() + markerSuffix }

// Folder is the common prefix of both names. It ends with a slash, so that it is not a prefix of another folder.
func (k Key) Folder() string { return Root + k.UID + "/" + k.OpID + "/" }

// String is the name of the data.
func (k Key) String() string { return k.Data() }

func canonical(id string) bool {
	parsed, err := uuid.Parse(id)
	return err == nil && parsed.String() == id
}
