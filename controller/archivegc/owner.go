package archivegc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"kyklos.io/kyklos/internal/archive"
)

// ownerName is the object at a store's prefix whose first line is the id of the installation that deletes archives there
// (D14).
const ownerName = ".kyklos-owner"

const ownerNote = `
The archives here belong to the installation of Kyklos named above, by the UID of its namespace. It deletes archives that
none of its Workspaces needs. If that installation is gone and another one is to take over the archives, delete this
object. Do so only when all Workspaces exist there: archives that they do not need are deleted.
`

// errForeign: the archives belong to another installation.
var errForeign = errors.New("the archives belong to another installation of Kyklos")

// ownedBy is false while the store has no owner. For another owner the error is errForeign.
func ownedBy(ctx context.Context, store archive.Reader, installation string) (bool, error) {
	owner, err := readOwner(ctx, store)
	switch {
	case errors.Is(err, archive.ErrNotFound):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("read the owner of the archives: %w", err)
	case owner != installation:
		return false, fmt.Errorf("%w: %q", errForeign, owner)
	}
	return true, nil
}

// claim makes this installation the owner of a store that has none. Another one may be first.
func claim(ctx context.Context, store archive.Store, installation string) error {
	err := store.Put(ctx, ownerName, []byte(installation+"\n"+ownerNote))
	if err != nil && !errors.Is(err, archive.ErrExists) {
		return fmt.Errorf("write the owner of the archives: %w", err)
	}
	owned, err := ownedBy(ctx, store, installation)
	if err == nil && !owned {
		err = errors.New("write the owner of the archives: it was deleted at once")
	}
	return err
}

func readOwner(ctx context.Context, store archive.Reader) (string, error) {
	body, _, err := store.Get(ctx, ownerName)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(io.LimitReader(body, 4096))
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line), err
}
