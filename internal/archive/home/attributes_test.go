package home

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// ace is an entry of an ACL.
type ace struct {
	tag, may uint16
	id       uint32
}

const (
	aceOwner, aceMask, aceOther = 0x01, 0x10, 0x20
	nobodyID                    = 65534
)

func acl(entries ...ace) string {
	text := binary.LittleEndian.AppendUint32(nil, aclVersion)
	for _, e := range entries {
		text = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(text, e.tag), e.may), e.id)
	}
	return string(text)
}

// shared lets user 1234 write a file of mode 0660, whose group may do nothing.
func shared() string {
	none := ^uint32(0)
	return acl(ace{aceOwner, 6, none}, ace{aclUser, 6, 1234}, ace{aclOwnGroup, 0, none}, ace{aceMask, 6, none}, ace{aceOther, 0, none})
}

// set sets an attribute, or skips the test where that is impossible.
func set(t *testing.T, path, key, value string) {
	t.Helper()
	err := unix.Setxattr(path, key, []byte(value), 0)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EPERM) {
		t.Skipf("%s cannot be set on this file system by this user: %v", key, err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func get(path, key string) string {
	var value [200]byte
	n, err := unix.Getxattr(path, key, value[:])
	return string(value[:max(n, 0)]) + map[bool]string{true: "", false: "nothing"}[err == nil]
}

// cap_net_raw, as setcap writes it.
const netRaw = "\x01\x00\x00\x02\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// W65: ACLs and file capabilities are kept, and are part of the digest.
func TestACLsAndCapabilitiesComeBack(t *testing.T) {
	for key, path := range map[string]string{accessACL: "file", defaultACL: "sub", capability: "tool"} {
		t.Run(key, func(t *testing.T) {
			folder := write(t, t.TempDir(), map[string]string{"file": "x", "sub/inner": "y", "tool": "z"})
			_, without := packed(t, folder)
			value := map[bool]string{true: netRaw, false: shared()}[key == capability]
			set(t, filepath.Join(folder, path), key, value)
			stream, summary := packed(t, folder)
			if summary.Tree == without.Tree {
				t.Error("it is not part of the digest")
			}
			back := unpacked(t, stream)
			if got := get(filepath.Join(back, path), key); got != value {
				t.Errorf("%x became %x", value, got)
			}
			if again, err := Survey(t.Context(), open(t, back)); err != nil || !cmp.Equal(summary, again) {
				t.Errorf("%v, -before +after:\n%s", err, cmp.Diff(summary, again))
			}
		})
	}
}

// A file that loses its ACL is not opened to its group, whose rights were the ACL's; a user who is not root keeps the ACL, and is
// told about the capability.
func TestWhatAnotherUserCannotSet(t *testing.T) {
	folder := write(t, t.TempDir(), map[string]string{"file": "x", "tool": "z"})
	set(t, filepath.Join(folder, "file"), accessACL, shared())
	set(t, filepath.Join(folder, "tool"), capability, netRaw)
	stream, _ := packed(t, folder)
	to := reachable(t)
	if err := os.Chown(to, nobodyID, nobodyID); err != nil && os.Getuid() == 0 {
		t.Fatal(err)
	}
	said, err := unprivileged(t, "unpack", to, bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	if got := get(filepath.Join(to, "file"), accessACL); got != shared() {
		t.Errorf("the ACL is %x", got)
	}
	if !strings.Contains(string(said), `"tool": attribute security.capability`) || strings.Contains(string(said), "acl") {
		t.Errorf("it said %s", said)
	}
}

// An ACL that the system does not accept is left out, and the mode narrowed.
func TestALostACLNarrowsTheMode(t *testing.T) {
	none := ^uint32(0)
	for name, test := range map[string]struct {
		acl  string
		want fs.FileMode
	}{
		"no mask":     {acl(ace{aceOwner, 6, none}, ace{aclUser, 6, 1234}, ace{aclOwnGroup, 4, none}, ace{aceOther, 0, none}), 0o640},
		"no ACL":      {"garbage", 0o600},
		"a new form":  {"\x03\x00\x00\x00", 0o600},
		"half of one": {shared()[:9], 0o600},
	} {
		stream := forged(t, top, tar.Header{
			Typeflag: tar.TypeReg, Name: "file", Mode: 0o660, Format: tar.FormatPAX, PAXRecords: map[string]string{xattrPrefix + accessACL: test.acl},
		})
		folder := t.TempDir()
		summary, err := Unpack(t.Context(), open(t, folder), bytes.NewReader(stream), everything, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		info, err := os.Stat(filepath.Join(folder, "file"))
		if err != nil || info.Mode() != test.want || summary.LeftOutCount != 1 {
			t.Errorf("%s: %v, mode %v, want %v; left out %v", name, err, info.Mode(), test.want, summary.LeftOut)
		}
	}
}

// Without its ACL nobody may do more with a file: not its group, nor those who were named.
func TestNarrowed(t *testing.T) {
	none := ^uint32(0)
	if got := narrowed(0o660, []byte(shared())); got != 0o600 {
		t.Errorf("%o, want 600", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string) uint16 { return uint16(rapid.IntRange(0, 7).Draw(t, what)) }
		owner, user, group, named, mask, other := draw("owner"), draw("user"), draw("own group"), draw("group"), draw("mask"), draw("other")
		text := acl(ace{aceOwner, owner, none}, ace{aclUser, user, 1}, ace{aclOwnGroup, group, none}, ace{aclGroup, named, 2}, ace{aceMask, mask, none}, ace{aceOther, other, none})
		got := narrowed(fs.FileMode(owner<<6|mask<<3|other)|fs.ModeSetgid, []byte(text))
		newGroup, newOther := uint16(got>>3&7), uint16(got&7)
		if got&fs.ModeSetgid == 0 || uint16(got>>6&7) != owner {
			t.Fatalf("%v: more than group and others was changed", got)
		}
		// Each may be in the file's group or not, and may do what its entry says within the mask.
		for who, may := range map[string]uint16{"user": user & mask, "own group": group & mask, "group": named & mask} {
			if newGroup&^may != 0 {
				t.Fatalf("in the group, %s may do %o, and could do %o", who, newGroup, may)
			}
		}
		for who, may := range map[string]uint16{"user": user, "group": named, "other": other} {
			if newOther&^may != 0 {
				t.Fatalf("as others, %s may do %o, and could do %o", who, newOther, may)
			}
		}
	})
}

// A new home does not inherit the ACL of the volume.
func TestNoACLIsInherited(t *testing.T) {
	volume := t.TempDir()
	set(t, volume, defaultACL, shared())
	stream, _ := packed(t, write(t, t.TempDir(), map[string]string{"sub/file": "x"}))
	to := filepath.Join(volume, "home")
	if err := os.Mkdir(to, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Unpack(t.Context(), open(t, to), bytes.NewReader(stream), everything, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "sub", "sub/file"} {
		for _, key := range []string{accessACL, defaultACL} {
			if got := get(filepath.Join(to, name), key); got != "nothing" {
				t.Errorf("%q has %s %x", name, key, got)
			}
		}
	}
}

// Times after 2262, when 64 bits of nanoseconds end.
func TestTimesThatGoCannotSet(t *testing.T) {
	folder := write(t, t.TempDir(), map[string]string{"file": "x", "sub/": ""})
	when := time.Date(2400, 1, 2, 3, 4, 5, 6, time.UTC)
	stamp, err := unix.TimeToTimespec(when)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "sub", "."} {
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(folder, name), []unix.Timespec{stamp, stamp}, 0); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(filepath.Join(folder, "file")); err != nil || !info.ModTime().Equal(when) {
		t.Skipf("this file system has no time %v: %v, %v", when, info.ModTime(), err)
	}
	stream, _ := packed(t, folder)
	if diff := cmp.Diff(snapshot(t, folder), snapshot(t, unpacked(t, stream))); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

// A time that the file system replaces is said.
func TestATimeThatIsLost(t *testing.T) {
	stream := forged(t, top, tar.Header{Typeflag: tar.TypeReg, Name: "file", ModTime: time.Unix(1<<40, 0), Format: tar.FormatPAX})
	folder := t.TempDir()
	summary, err := Unpack(t.Context(), open(t, folder), bytes.NewReader(stream), everything, nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(folder, "file")); err == nil && info.ModTime().Unix() == 1<<40 {
		t.Skip("this file system has room for every time")
	}
	if summary.LeftOutCount != 1 || !strings.HasPrefix(summary.LeftOut[0], `"file": time `) {
		t.Errorf("left out: %v", summary.LeftOut)
	}
}

// Two names of one symbolic link are two names of one again.
func TestHardLinksToSymbolicLinks(t *testing.T) {
	folder := t.TempDir()
	err := errors.Join(os.Symlink("/etc/passwd", filepath.Join(folder, "a")), os.Link(filepath.Join(folder, "a"), filepath.Join(folder, "b")))
	if err != nil {
		t.Fatal(err)
	}
	stream, _ := packed(t, folder)
	back := unpacked(t, stream)
	one, err := os.Lstat(filepath.Join(back, "a"))
	two, err2 := os.Lstat(filepath.Join(back, "b"))
	if err := errors.Join(err, err2); err != nil || one.Mode().Type() != fs.ModeSymlink || !os.SameFile(one, two) {
		t.Errorf("%v: %v, %v", err, one, two)
	}
}
