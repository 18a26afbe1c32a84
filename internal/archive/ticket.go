package archive

import (
	"context"
	"fmt"
	"io"
	"time"
)

// Ticket is what a mover gets instead of credentials: it reaches the two objects of one
// archive and the note beside them, for a limited time. To archive it can create each object once, and read
// it back; to restore it can only read. The note alone it can write again. See docs/adr. It is a secret.
type Ticket struct {
	// Key is the name of the archive's data.
	Key string `json:"key"`
	// Folder is the file store, if it is one. All else is then empty.
	Folder string `json:"folder,omitempty"`
	// GetData, GetMarker and PutMarker are presigned URLs; PutMarker is empty to restore.
	GetData   string `json:"getData,omitempty"`
	GetMarker string `json:"getMarker,omitempty"`
	PutMarker string `json:"putMarker,omitempty"`
	// Upload is how the data are written; nil to restore.
	Upload *Upload `json:"upload,omitempty"`
	// Attempt is what the notes of this ticket's mover are marked with, PutNote the presigned URL to write them. A
	// ticket without an Attempt, such as one of an earlier version, allows none.
	Attempt string `json:"attempt,omitempty"`
	PutNote string `json:"putNote,omitempty"`
	// CA holds PEM certificates to trust instead of the image's.
	CA string `json:"ca,omitempty"`
	// Expires is when the store stops accepting it, by the clock of who issued it.
	Expires time.Time `json:"expires"`
}

// Upload is one multipart upload that was begun for the ticket. The URLs of its parts differ in the
// number and the signature only, so a hundred gigabytes fit into a Secret's megabyte.
type Upload struct {
	ID string `json:"id"`
	// PartSize is the length of each part but the last, in bytes.
	PartSize int64 `json:"partSize"`
	// Part is the URL of every part, without partNumber and X-Amz-Signature.
	Part string `json:"part"`
	// Signatures are those of part 1, 2, ...
	Signatures []string `json:"signatures"`
	// Complete is the URL that makes the parts one object.
	Complete string `json:"complete"`
}

// Order is what a ticket is asked for.
type Order struct {
	Key Key
	// MaxBytes bounds the data to archive: the volume's size. 0 asks for a ticket to restore.
	MaxBytes int64
	// Attempt marks the notes of the mover, at most 100 bytes; empty asks for a ticket that allows none.
	Attempt string
	// Valid is how long it is accepted from Now on, at most 7 days (SigV4's bound).
	Now   time.Time
	Valid time.Duration
}

// Issuer is a store that hands out tickets.
type Issuer interface {
	Store
	// Issue makes a ticket. One to archive begins an upload in the store.
	Issue(ctx context.Context, order Order) (Ticket, error)
	// Revoke ends the upload of a ticket: what it has uploaded and not completed is deleted, and
	// nothing can be completed with it any more. It is safe to call again.
	Revoke(ctx context.Context, ticket Ticket) error
}

// Only confines a store to the two objects of key: any other is ErrDenied.
func Only(store MoverStore, key Key) MoverStore { return only{store, key} }

type only struct {
	store MoverStore
	key   Key
}

func (o only) check(name string) error {
	if name != o.key.Data() && name != o.key.Marker() {
		return fmt.Errorf("%s: %w: the ticket is for %s", name, ErrDenied, o.key)
	}
	return nil
}

func (o only) Head(ctx context.Context, name string) (Object, error) {
	if err := o.check(name); err != nil {
		return Object{}, err
	}
	return o.store.Head(ctx, name)
}

func (o only) Get(ctx context.Context, name string) (io.ReadCloser, Object, error) {
	if err := o.check(name); err != nil {
		return nil, Object{}, err
	}
	return o.store.Get(ctx, name)
}

func (o only) Put(ctx context.Context, name string, body []byte) error {
	if err := o.check(name); err != nil {
		return err
	}
	return o.store.Put(ctx, name, body)
}

func (o only) PutStream(ctx context.Context, name string, body io.Reader) error {
	if err := o.check(name); err != nil {
		return err
	}
	return o.store.PutStream(ctx, name, body)
}
