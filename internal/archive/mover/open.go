package mover

import (
	"encoding/json"
	"fmt"
	"os"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/internal/archive/presigned"
)

// ReadTicket reads a ticket from a file, as a Secret's volume has it.
func ReadTicket(name string) (archive.Ticket, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return archive.Ticket{}, err
	}
	var ticket archive.Ticket
	if err := json.Unmarshal(text, &ticket); err != nil {
		return archive.Ticket{}, fmt.Errorf("%s is no ticket: %w", name, err)
	}
	return ticket, nil
}

// Open gives access to the one archive that a ticket is for.
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
