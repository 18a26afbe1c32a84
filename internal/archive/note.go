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

// noteName is the object next to an archive while a mover works on it.
const noteName = "progress.json"

// NoteBytes is the length of every note. It is signed, so that a ticket cannot fill the store with notes.
const NoteBytes = 512

// Step is a mover's current step.
type Step string

// Packing and Verifying are the steps of archiving, Unpacking is the step of restoring.
const (
	Packing   Step = "packing"
	Verifying Step = "verifying"
	Unpacking Step = "unpacking"
)

// Progress is a mover's progress. It is only for display, and nothing depends on it: anyone who can read the mover's ticket
// can write anything there.
type Progress struct {
	// Attempt is the attempt that the mover's ticket is for, so that notes of other attempts are ignored.
	Attempt string `json:"attempt"`
	Step    Step   `json:"step"`
	// Entries and Bytes of the home are done: files, folders and links, and the files' lengths.
	Entries int64 `json:"entries"`
	Bytes   int64 `json:"bytes"`
	// OfEntries and OfBytes are the totals; 0 is unknown. While a home is packed, they are counted in parallel.
	OfEntries int64 `json:"ofEntries,omitempty"`
	OfBytes   int64 `json:"ofBytes,omitempty"`
}

// Note is the name of the object with a mover's progress. It is not part of the archive: ParseObject refuses it. It is the
// only object that is overwritten.
func (k Key) Note() string { return k.Folder() + noteName }

// ParseNote parses the name of a note.
func ParseNote(name string) (Key, bool) {
	folder, ok := strings.CutSuffix(name, noteName)
	if !ok {
		return Key{}, false
	}
	key, err := ParseKey(folder + dataName)
	return key, err == nil
}

// Note is the progress as it is stored: JSON, padded with spaces to NoteBytes.
func (p Progress) Note() []byte {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // strings and numbers only
	}
	return append(text, bytes.Repeat([]byte(" "), max(NoteBytes-len(text), 0))...)
}

// ReadNote reads the progress of an attempt's mover. known is false if there is no note, or only one of another attempt.
// ErrCorrupt: the note is invalid, which says nothing about the archive.
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
		return Progress{}, false, fmt.Errorf("%s: %w", key.Note(), corrupt("its numbers must not be negative"))
	}
	return progress, progress.Attempt == attempt, nil
}

// DropNote deletes the note next to an archive, if there is one: a versioned bucket would keep a needless delete marker for
// ever. It is safe to call again.
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
