package home

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
)

const xattrPrefix = "SCHILY.xattr."

// Bits of tar's mode that fs.FileMode has elsewhere (POSIX pax, Values for mode Field).
const (
	modeSetuid = 0o4000
	modeSetgid = 0o2000
	modeSticky = 0o1000
)

// digester hashes a home entry by entry. It uses the tar's headers, so a home on disk and the same home in a stream have
// the same digest.
type digester struct {
	all     hash.Hash
	content *contentHash
}

func newDigester() *digester { return &digester{all: sha256.New(), content: newContentHash()} }

// add adds one entry. Its content must have been written to d.content before.
func (d *digester) add(header *tar.Header) {
	fmt.Fprintf(d.all, "%q %c %o %d:%d %d.%09d %q %d", strings.TrimSuffix(header.Name, "/"), header.Typeflag,
		header.Mode, header.Uid, header.Gid, header.ModTime.Unix(), header.ModTime.Nanosecond(), header.Linkname, header.Size)
	for _, key := range slices.Sorted(maps.Keys(header.PAXRecords)) {
		if strings.HasPrefix(key, xattrPrefix) {
			fmt.Fprintf(d.all, " %q=%x", key, header.PAXRecords[key])
		}
	}
	fmt.Fprintf(d.all, " %x\n", d.content.sum())
}

func (d *digester) sum() string { return hex.EncodeToString(d.all.Sum(nil)) }

// compareNames sorts names in the order of a walk: a folder, its content, its siblings. A slash sorts before every other
// byte.
func compareNames(a, b string) int {
	return slices.CompareFunc([]byte(a), []byte(b), func(x, y byte) int { return rank(x) - rank(y) })
}

func rank(b byte) int {
	if b == '/' {
		return -1
	}
	return int(b)
}
