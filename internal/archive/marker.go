package archive

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxMarkerBytes is more than any marker needs. Longer ones are invalid.
const MaxMarkerBytes = 64 << 10

const sumPrefix = "sha256:"

// Marker describes the stored data and their origin. In the store its first line is sha256: and the data's sum (W52),
// the rest is JSON.
type Marker struct {
	// SHA256 is the sum of the stored data: 64 hexadecimal digits.
	SHA256 string `json:"-"`
	// Key is the name of the data, so that a marker of one archive never fits another's data.
	Key string `json:"key"`
	// Size of the stored data in bytes.
	Size int64 `json:"size"`
	// Tree is the digest of the home: 64 hexadecimal digits.
	Tree string `json:"tree"`
	// Entries and Bytes bound the unpacked home: files, folders and links, and the files' lengths.
	Entries int64 `json:"entries"`
	Bytes   int64 `json:"bytes"`
	// VolumeUID is the volume that was read. Epoch is how often a Pod had been started on it: an archive of an earlier
	// epoch lacks what was written since (D2).
	VolumeUID string `json:"volumeUID"`
	Epoch     int64  `json:"epoch"`
	// Workspace is NAMESPACE/NAME, for users inspecting the store.
	Workspace string `json:"workspace"`
	// Mover is the version of the program that wrote it.
	Mover string `json:"mover"`
	// EncryptedFor has the fingerprints of the recipients that the data are encrypted for, separated by commas; empty for data that
	// are not encrypted.
	EncryptedFor string `json:"encryptedFor,omitempty"`
	// LeftOut says what of the home is not in the archive; empty for nothing. It is only for display: see MaxLeftOut.
	LeftOut string `json:"leftOut,omitempty"`
}

// MaxLeftOut bounds Shown, in characters.
const MaxLeftOut = 512

// ShownLeftOut is LeftOut for a status: one line of printable characters, whatever the store answered.
func (m Marker) ShownLeftOut() string { return Shown(m.LeftOut) }

// ShownEncryptedFor is EncryptedFor for people, whatever the store answered.
func (m Marker) ShownEncryptedFor() string { return Shown(m.EncryptedFor) }

// Shown is a text of somebody else for people: one line of printable characters, at most MaxLeftOut of them.
func Shown(text string) string {
	printable := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			return '?'
		}
		return r
	}, text))
	return string(printable[:min(len(printable), MaxLeftOut)])
}

// Sum is the data's sum as in status.archive and the first line: sha256: and 64 digits.
func (m Marker) Sum() string { return sumPrefix + m.SHA256 }

// String is the marker as it is stored. ParseMarker is its inverse.
func (m Marker) String() string {
	body, err := json.Marshal(m)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return m.Sum() + "\n" + string(body) + "\n"
}

// ParseMarker parses a marker. The error is ErrCorrupt. Unknown fields of later versions are ignored.
func ParseMarker(text []byte) (Marker, error) {
	if len(text) > MaxMarkerBytes {
		return Marker{}, corrupt("the marker has %d bytes, more than %d", len(text), MaxMarkerBytes)
	}
	line, body, ok := bytes.Cut(text, []byte("\n"))
	sum, isSum := strings.CutPrefix(string(line), sumPrefix)
	if !ok || !isSum || !isDigest(sum) {
		return Marker{}, corrupt("the marker's first line must be %s and 64 hexadecimal digits", sumPrefix)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	var marker Marker
	if err := decoder.Decode(&marker); err != nil {
		return Marker{}, corrupt("the marker's second line must be JSON: %v", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Marker{}, corrupt("unexpected data after the marker's JSON")
	}
	marker.SHA256 = sum
	return marker, marker.check()
}

// check refuses a marker that a mover would not have written.
func (m Marker) check() error {
	_, err := ParseKey(m.Key)
	switch {
	case err != nil:
		return corrupt("the marker's key: %v", err)
	case m.Size <= 0:
		return corrupt("the marker's size is %d, but must be above 0", m.Size)
	case !isDigest(m.Tree):
		return corrupt("the marker's tree must be 64 hexadecimal digits")
	case m.Entries < 1 || m.Bytes < 0:
		return corrupt("the marker's entries (%d) must be at least 1, its bytes (%d) at least 0", m.Entries, m.Bytes)
	case m.VolumeUID == "" || m.Epoch < 0:
		return corrupt("the marker must name the volume, and its epoch (%d) must not be negative", m.Epoch)
	}
	return nil
}

// isDigest reports whether text is a SHA-256 sum in lowercase hexadecimal digits.
func isDigest(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == 32 && strings.ToLower(text) == text
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrCorrupt}, args...)...)
}
