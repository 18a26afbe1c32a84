package archivegc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"kyklos.io/kyklos/internal/archive"
)

// ownerName is the object at a store's prefix whose first line is the id of the installation that
// deletes archives there (D14).
const ownerName = ".kyklos-owner"

const ownerNote = `
The archives here are those of the installation of Kyklos named above, by the UID of its namespace: it
deletes those that none of its Workspaces needs. Delete this object if that installation is gone and another
one is to take them over. Do not before all of its Workspaces are there: it deletes what they do not need.
`

// errForeign: the archives belong to another installation.
var errForeign = errors.New("the archives belong to another installation of Kyklos")

// claim makes the store's archives this installation's, if they are nobody's. errForeign says whose else
// they are.
func claim(ctx context.Context, store archive.Store, own string) error {
	owner, err := readOwner(ctx, store)
	if errors.Is(err, archive.ErrNotFound) {
		if err = store.Put(ctx, ownerName, []byte(own+"\n"+ownerNote)); err == nil || errors.Is(err, archive.ErrExists) {
			owner, err = readOwner(ctx, store) // somebody may have been first
		}
	}
	if err != nil {
		return fmt.Errorf("find out whose the archives are: %w", err)
	}
	if owner != own {
		return fmt.Errorf("%w: %q", errForeign, owner)
	}
	return nil
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
