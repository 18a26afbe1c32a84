package mover

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/encryption"
	"kyklos.io/kyklos/internal/archive/filestore"
)

func newKey(t *testing.T) *age.X25519Identity {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// encryptedFor encrypts for some and can open with others.
func encryptedFor(t *testing.T, job Job, recipients, identities []*age.X25519Identity) Job {
	t.Helper()
	text := ""
	for _, key := range recipients {
		job.Recipients = append(job.Recipients, key.Recipient().String())
	}
	for _, key := range identities {
		text += key.String() + "\n"
	}
	file := filepath.Join(t.TempDir(), "ageIdentity")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if job.Identities, err = ReadIdentities(file); err != nil {
		t.Fatal(err)
	}
	return job
}

type keys = []*age.X25519Identity

// W92: an encrypted home is in the store as a file of age, without any of its bytes. Each identity restores it, and nobody else does; that
// is no loss. The marker says for whom it is.
func TestAnEncryptedHome(t *testing.T) {
	mine, second, another := newKey(t), newKey(t), newKey(t)
	stored := t.TempDir()
	from, store := volume(t, someHome), filestore.New(stored)
	result, err := Archive(t.Context(), encryptedFor(t, archiving(store, from), keys{mine, second}, keys{another, second}))
	if err != nil || result.Code != OK {
		t.Fatalf("%+v, %v", result, err)
	}
	marker, err := archive.Committed(t.Context(), store, key, archive.Want{VolumeUID: "volume-1", Epoch: 3})
	want := encryption.Fingerprint(mine.Recipient().String()) + "," + encryption.Fingerprint(second.Recipient().String())
	if err != nil || marker.EncryptedFor != want || marker.Tree != tree(t, from) {
		t.Errorf("%+v, %v, want it for %s", marker, err, want)
	}
	data, err := os.ReadFile(filepath.Join(stored, key.Data()))
	if err != nil || !bytes.HasPrefix(data, []byte("age-encryption.org/v1\n")) || bytes.Contains(data, []byte(mine.Recipient().String())) {
		t.Errorf("%.60q, %v", data, err)
	}
	if plain, err := age.Decrypt(bytes.NewReader(data), mine); err != nil {
		t.Error(err)
	} else if zipped, err := io.ReadAll(plain); err != nil || !bytes.HasPrefix(zipped, []byte{0x1f, 0x8b}) {
		t.Errorf("age does not open it: %v", err)
	}
	for name, test := range map[string]struct {
		have keys
		want Code
		says string
	}{
		"the first":      {keys{mine}, OK, ""},
		"after rotation": {keys{another, second}, OK, ""},
		"another":        {keys{another}, IdentityMissing, "the identities are for " + encryption.Fingerprint(another.Recipient().String())},
		"none":           {nil, IdentityMissing, "there is no identity"},
	} {
		to := t.TempDir()
		_, err := Restore(t.Context(), encryptedFor(t, restoring(store, to), nil, test.have))
		switch {
		case codeOf(err) != test.want || codeOf(err).Reason() == DataLost:
			t.Errorf("%s: %v, want %s", name, err, test.want)
		case err == nil && tree(t, to) != marker.Tree:
			t.Errorf("%s: another home", name)
		case err != nil && (!strings.Contains(err.Error(), want[:20]) || !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "SECRET-KEY")):
			t.Errorf("%s: %v, want %q", name, err, test.says)
		case err != nil:
			nothingRestored(t, to)
			if _, err := Restore(t.Context(), encryptedFor(t, restoring(store, to), nil, keys{mine})); err != nil || tree(t, to) != marker.Tree {
				t.Errorf("%s, mended: %v", name, err)
			}
		}
	}
}

// Archives from before are restored by a mover that encrypts.
func TestArchivesFromBeforeEncryption(t *testing.T) {
	from, to, store := volume(t, someHome), t.TempDir(), filestore.New(t.TempDir())
	if _, err := Archive(t.Context(), archiving(store, from)); err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(t.Context(), encryptedFor(t, restoring(store, to), nil, keys{newKey(t)})); err != nil || tree(t, to) != tree(t, from) {
		t.Error(err)
	}
}

// W93: what the mover could not read back is not stored at all.
func TestNothingIsStoredThatCannotBeReadBack(t *testing.T) {
	for name, have := range map[string]keys{"no identity": nil, "another": {newKey(t)}} {
		from, store := volume(t, someHome), filestore.New(t.TempDir())
		if _, err := Archive(t.Context(), encryptedFor(t, archiving(store, from), keys{newKey(t)}, have)); codeOf(err) != IdentityMissing {
			t.Errorf("%s: %v, want IDENTITY_MISSING", name, err)
		}
		for _, object := range []string{key.Data(), key.Marker()} {
			if _, err := store.Head(t.Context(), object); !errors.Is(err, archive.ErrNotFound) {
				t.Errorf("%s: %s: %v", name, object, err)
			}
		}
	}
}

// The marker describes what is stored: data of an earlier attempt, which had other recipients or none, are not committed.
func TestRecipientsChangeBetweenAttempts(t *testing.T) {
	mine, another := newKey(t), newKey(t)
	for name, earlier := range map[string]keys{"none": nil, "another": {another}, "one of two": {mine}} {
		from, store := volume(t, someHome), filestore.New(t.TempDir())
		if _, err := Archive(t.Context(), encryptedFor(t, archiving(store, from), earlier, earlier)); err != nil {
			t.Fatal(err)
		}
		if err := store.Delete(t.Context(), key.Marker()); err != nil { // as if it had been killed before it
			t.Fatal(err)
		}
		if _, err := Archive(t.Context(), encryptedFor(t, archiving(store, from), keys{mine, another}, keys{mine})); codeOf(err) != ArchiveUnverified {
			t.Errorf("%s: %v, want ARCHIVE_UNVERIFIED", name, err)
		}
		if _, err := Archive(t.Context(), encryptedFor(t, archiving(store, from), earlier, earlier)); err != nil {
			t.Errorf("%s: the next attempt with the same recipients: %v", name, err)
		}
	}
}

// Damage to an encrypted archive is a loss, wherever it is, and a missing identity does not hide it for ever: the marker says what it takes.
func TestADamagedEncryptedArchive(t *testing.T) {
	mine := newKey(t)
	stored := t.TempDir()
	from, store := volume(t, someHome), filestore.New(stored)
	if _, err := Archive(t.Context(), encryptedFor(t, archiving(store, from), keys{mine}, keys{mine})); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(stored, key.Data())
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{3, 30, 120, 200, 300, len(good) / 2, len(good) - 1} {
		damaged := bytes.Clone(good)
		damaged[at] ^= 1
		for what, content := range map[string][]byte{"changed": damaged, "cut": good[:at]} {
			if err := errors.Join(os.Remove(path), os.WriteFile(path, content, 0o600)); err != nil {
				t.Fatal(err)
			}
			to := t.TempDir()
			if _, err := Restore(t.Context(), encryptedFor(t, restoring(store, to), nil, keys{mine})); codeOf(err) != ChecksumMismatch {
				t.Errorf("%s at %d of %d: %v, want CHECKSUM_MISMATCH", what, at, len(good), err)
			}
			nothingRestored(t, to)
		}
	}
}

func TestIdentityFiles(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"", filepath.Join(folder, "missing")} {
		if identities, err := ReadIdentities(name); err != nil || len(identities.Fingerprints()) > 0 {
			t.Errorf("%s: %v, %v", name, identities, err)
		}
	}
	file := filepath.Join(folder, "ageIdentity")
	if err := os.WriteFile(file, []byte("AGE-SECRET-KEY-1BROKEN\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadIdentities(file); codeOf(err) != IdentityMissing || !strings.Contains(err.Error(), "ageIdentity: line 1 must be") || strings.Contains(err.Error(), "BROKEN") {
		t.Error(err)
	}
}
