package mover

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/internal/archive/presigned"
)

// ReadTicket reads a ticket from a file in a Secret's volume.
func ReadTicket(name string) (archive.Ticket, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return archive.Ticket{}, err
	}
	var ticket archive.Ticket
	if err := json.Unmarshal(text, &ticket); err != nil {
		return archive.Ticket{}, fmt.Errorf("%s is not a ticket: %w", name, err)
	}
	return ticket, nil
}

// Open opens the archive that a ticket is for.
func Open(ticket archive.Ticket) (archive.MoverStore, archive.Key, error) {
	key, err := archive.ParseKey(ticket.Key)
	if err != nil {
		return nil, key, fmt.Errorf("the ticket's key: %w", err)
	}
	if ticket.Folder != "" {
		return archive.Only(filestore.New(ticket.Folder), key), key, nil
	}
	store, err := presigned.New(ticket)
	if err != nil {
		return nil, key, err
	}
	return store, key, nil
}

// Noter returns a function that writes progress notes with the ticket that store was opened with; nil if the ticket allows
// no notes. Its errors are not a reason to stop.
func Noter(ticket archive.Ticket, store archive.MoverStore) func(context.Context, archive.Progress) error {
	if ticket.Attempt == "" {
		return nil
	}
	write := func(ctx context.Context, note []byte) error {
		key, err := archive.ParseKey(ticket.Key)
		if err != nil {
			return err
		}
		return filestore.New(ticket.Folder).WriteNote(ctx, key, note)
	}
	if signed, ok := store.(*presigned.Store); ok {
		write = signed.WriteNote
	}
	return func(ctx context.Context, progress archive.Progress) error {
		progress.Attempt = ticket.Attempt
		return write(ctx, progress.Note())
	}
}
