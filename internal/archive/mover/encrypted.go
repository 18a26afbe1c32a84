package mover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/encryption"
	"kyklos.io/kyklos/internal/archive/home"
)

// ReadIdentities reads the secret keys in a file, which need not exist.
func ReadIdentities(name string) (encryption.Identities, error) {
	if name == "" {
		return encryption.Identities{}, nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return encryption.Identities{}, nil
	}
	if err != nil {
		return encryption.Identities{}, err
	}
	identities, err := encryption.ParseIdentities(string(text))
	if err != nil {
		return identities, &Failure{Code: IdentityMissing, err: fmt.Errorf("%w: ageIdentity: %w", encryption.ErrNoIdentity, err)}
	}
	return identities, nil
}

// canReadBack refuses to encrypt for others only: what cannot be read back must not be the only copy of a home (W93).
func (j Job) canReadBack() error {
	if len(j.Recipients) == 0 {
		return nil
	}
	return j.Identities.Fit(encryption.Fingerprints(j.Recipients))
}

// canOpen reports whether the archive of a marker can be opened, before it is downloaded.
func (j Job) canOpen(marker archive.Marker) error {
	if marker.EncryptedFor == "" {
		return nil
	}
	return j.Identities.Fit(strings.Split(marker.ShownEncryptedFor(), ","))
}

// pack writes the home to a stream, encrypted if there are recipients.
func (j Job) pack(ctx context.Context, folder *os.Root, to io.Writer, of func() home.Progress) (home.Summary, error) {
	report := j.report(archive.Packing, of)
	if len(j.Recipients) == 0 {
		return home.Pack(ctx, folder, to, report)
	}
	encrypted, err := encryption.Write(to, j.Recipients)
	if err != nil {
		return home.Summary{}, err
	}
	summary, err := home.Pack(ctx, folder, encrypted, report)
	if err == nil {
		err = encrypted.Close()
	}
	return summary, err
}

// openStored opens data that this operation has stored. They must be encrypted for exactly the recipients: an earlier attempt may have
// had others, or none.
func (j Job) openStored(stored io.Reader) (content io.Reader, encryptedFor string, err error) {
	content, found, err := encryption.Open(stored, j.Identities)
	if err != nil {
		return nil, "", fmt.Errorf("%w: %w", errReadBack, err)
	}
	if want := encryption.Fingerprints(j.Recipients); !slices.Equal(found, want) {
		return nil, "", fmt.Errorf("%w: they are encrypted for %q, not for %q", errReadBack, found, want)
	}
	return content, strings.Join(found, ","), nil
}
