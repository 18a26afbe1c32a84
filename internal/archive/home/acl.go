package home

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Attributes that are kept besides user.*.
const (
	accessACL  = "system.posix_acl_access"
	defaultACL = "system.posix_acl_default"
	capability = "security.capability"
)

// keepsAttribute reports whether an extended attribute is kept.
func keepsAttribute(key string) bool {
	return strings.HasPrefix(key, "user.") || key == accessACL || key == defaultACL || key == capability
}

// ownedByNode reports whether an attribute is set by the node that mounts a volume, not by a user.
func ownedByNode(key string) bool { return key == "security.selinux" }

// cannotSet reports whether an attribute is left out after this error: the file system has no support, it takes a privilege, or
// it names users that do not exist here.
func cannotSet(key string, err error) bool {
	return errors.Is(err, unix.ENOTSUP) ||
		!strings.HasPrefix(key, "user.") && (errors.Is(err, unix.EPERM) || errors.Is(err, unix.EINVAL))
}

// Tags and the layout of an ACL as Linux stores it (linux/posix_acl_xattr.h).
const (
	aclVersion  = 2
	aclHeader   = 4
	aclEntry    = 8
	aclUser     = 0x02
	aclOwnGroup = 0x04
	aclGroup    = 0x08
)

// narrowed is the mode of a file without its ACL: nobody may do more than before. With an ACL a mode's bits of the group are the
// most that any group or named user may do; without it they are the rights of the file's group. Those who were named belong to the
// group or to the others then.
func narrowed(mode fs.FileMode, acl []byte) fs.FileMode {
	const all = 7
	group, other := fs.FileMode(all), fs.FileMode(all)
	if len(acl) < aclHeader || (len(acl)-aclHeader)%aclEntry != 0 || binary.LittleEndian.Uint32(acl) != aclVersion {
		group, other = 0, 0 // nobody knows what it allowed
		acl = nil
	}
	for rest := acl[min(len(acl), aclHeader):]; len(rest) >= aclEntry; rest = rest[aclEntry:] {
		may := fs.FileMode(binary.LittleEndian.Uint16(rest[2:])) & all
		switch binary.LittleEndian.Uint16(rest) {
		case aclOwnGroup:
			group &= may
		case aclUser, aclGroup:
			group &= may
			other &= may
		}
	}
	return mode &^ ((all ^ group) << 3) &^ (all ^ other)
}

// dropInherited removes ACLs that a new home has from the folder it is in: its entries would inherit them.
func dropInherited(folder *os.Root) error {
	top, err := folder.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = top.Close() }()
	for _, key := range []string{accessACL, defaultACL} {
		err := unix.Fremovexattr(int(top.Fd()), key)
		if err != nil && !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.ENOTSUP) && !errors.Is(err, unix.EPERM) {
			return os.NewSyscallError("fremovexattr "+key, err)
		}
	}
	return nil
}
