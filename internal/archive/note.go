package archive

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// noteName lies beside an archive while a mover is at work on it.
const noteName = "progress.json"

// NoteBytes is the length of every note: it is signed, so a ticket cannot fill the store by its notes.
const NoteBytes = 512

// Step is what a mover does at the moment.
type Step string

// Packing and Verifying are the steps to archive, Unpacking is the one to restore.
const (
	Packing   Step = "packing"
	Verifying Step = "verifying"
	Unpacking Step = "unpacking"
)

// Progress is how far a mover is. It is for people alone, and nothing is ever decided by it: whoever can read the
// mover's ticket can write anything there.
type Progress struct {
	// Attempt is the attempt that the mover's ticket is for, so that none is taken for another's.
	Attempt string `json:"attempt"`
	Step    Step   `json:"step"`
	// Entries and Bytes of the home are done: files, folders and links, and the files' lengths.
	Entries int64 `json:"entries"`
	Bytes   int64 `json:"bytes"`
	// OfEntries and OfBytes are how many there are; 0 is not known. Of a home that is packed they were
	// counted beside.
	OfEntries int64 `json:"ofEntries,omitempty"`
	OfBytes   int64 `json:"ofBytes,omitempty"`
}

// Note is the name of the object by which a mover tells how far it is. It is not an object of the archive:
// ParseObject refuses it. It alone is ever overwritten.
func (k Key) Note() string { return k.Folder() + noteName }

// ParseNote reads the name of a note.
func ParseNote(name string) (Key, bool) {
	folder, ok := strings.CutSuffix(name, noteName)
	if !ok {
		return Key{}, false
	}
	key, err := ParseKey(folder + dataName)
	return key, err == nil
}

// Note is the progress as it is stored: JSON, filled up with spaces to NoteBytes.
func (p Progress) Note() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return append(text, bytes.Repeat([]byte(" "), max(NoteBytes-len(text), 0))...)
}

// ReadNote reads how far the mover of an attempt is. It is not known (false) as long as it has not told, and
// where the note is another attempt's. ErrCorrupt: it is no note, which is no matter of the archive.
func ReadNote(ctx context.Context, store Reader, key Key, attempt string) (progress Progress, known bool, err error) {
	body, _, err := store.Get(ctx, key.Note())
	if errors.Is(err, ErrNotFound) {
		return Progress{}, false, nil
	}
	if err != nil {
		return Progress{}, false, err
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(io.LimitReader(body, NoteBytes))
	if err != nil {
		return Progress{}, false, fmt.Errorf("%s: %w", key.Note(), err)
	}
	if err := json.Unmarshal(text, &progress); err != nil {
		return Progress{}, false, fmt.Errorf("%s: %w", key.Note(), corrupt("it must be JSON: %v", err))
	}
	if min(progress.Entries, progress.Bytes, progress.OfEntries, progress.OfBytes) < 0 {
		return Progress{}, false, fmt.Errorf("%s: %w", key.Note(), corrupt("nothing in it can be negative"))
	}
	return progress, progress.Attempt == attempt, nil
}

// DropNote deletes the note beside an archive. Where there is none it deletes nothing: a bucket with
// versions would remember that for ever. It is safe to call again.
func DropNote(ctx context.Context, store Store, key Key) error {
	for object, err := range store.List(ctx, key.Note()) {
		if err != nil {
			return err
		}
		if object.Name == key.Note() {
			return store.Delete(ctx, key.Note())
		}
	}
	return nil
}
