package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Ticket is what a mover gets instead of credentials: access to the two objects of one archive and its note, for a limited
// time. For archiving it can create each object once and read it back; for restoring it can only read. Only the note can
// be overwritten. See docs/adr. It is a secret.
type Ticket struct {
	// Key is the name of the archive's data.
	Key string `json:"key"`
	// Folder is the folder of a file store. Everything else is then empty.
	Folder string `json:"folder,omitempty"`
	// GetData, GetMarker and PutMarker are presigned URLs; PutMarker is empty for a restore.
	GetData   string `json:"getData,omitempty"`
	GetMarker string `json:"getMarker,omitempty"`
	PutMarker string `json:"putMarker,omitempty"`
	// Upload is how the data are written; nil for a restore.
	Upload *Upload `json:"upload,omitempty"`
	// Attempt identifies the notes of this ticket's mover, PutNote is the presigned URL to write them. A ticket without
	// an Attempt, such as one of an earlier version, allows no notes.
	Attempt string `json:"attempt,omitempty"`
	PutNote string `json:"putNote,omitempty"`
	// PutHeaders are sent with PutMarker and PutNote, whose signatures cover them.
	PutHeaders map[string]string `json:"putHeaders,omitempty"`
	// CA holds PEM certificates that are trusted instead of the image's.
	CA string `json:"ca,omitempty"`
	// Recipients are those for whom the data are to be encrypted; none for plain data, and for a restore.
	Recipients []string `json:"recipients,omitempty"`
	// Expires is when the store stops accepting it, by the issuer's clock.
	Expires time.Time `json:"expires"`
}

// Upload is one multipart upload that was started for the ticket. The URLs of its parts differ only in the number and the
// signature, so the ticket for a hundred gigabytes fits into a Secret's megabyte.
type Upload struct {
	ID string `json:"id"`
	// PartSize is the length of each part except the last, in bytes.
	PartSize int64 `json:"partSize"`
	// Part is the URL of every part, without partNumber and X-Amz-Signature.
	Part string `json:"part"`
	// Signatures are those of part 1, 2, ...
	Signatures []string `json:"signatures"`
	// Complete is the URL that completes the upload.
	Complete string `json:"complete"`
}

// Order describes a ticket to issue.
type Order struct {
	Key Key
	// MaxBytes bounds the data to archive: the volume's size. 0 is for a restore.
	MaxBytes int64
	// Attempt identifies the notes of the mover, at most 100 bytes; empty allows no notes.
	Attempt string
	// Valid is how long it is accepted after Now, at most 7 days (SigV4's limit).
	Now   time.Time
	Valid time.Duration
}

// Issuer is a store that issues tickets.
type Issuer interface {
	Store
	// Issue issues a ticket. For archiving it starts an upload in the store.
	Issue(ctx context.Context, order Order) (Ticket, error)
	// Revoke aborts the upload of a ticket: its parts are deleted, and it cannot be completed any more. It is safe to
	// call again.
	Revoke(ctx context.Context, ticket Ticket) error
}

// Meter is an Issuer that knows the progress of a ticket's upload.
type Meter interface {
	// Uploaded returns how many bytes the store has, or ErrNotFound if the upload was completed or aborted.
	Uploaded(ctx context.Context, ticket Ticket) (int64, error)
}

// Uploaded returns how many bytes a mover has stored with its ticket, in whole parts of the upload. It asks the store, so
// the mover needs no permission to report it. It is unknown for a restore, after the upload, and in a store without
// parts.
func Uploaded(ctx context.Context, store Issuer, ticket Ticket) (bytes int64, known bool, err error) {
	meter, ok := store.(Meter)
	if !ok || ticket.Upload == nil {
		return 0, false, nil
	}
	bytes, err = meter.Uploaded(ctx, ticket)
	if errors.Is(err, ErrNotFound) {
		return 0, false, nil
	}
	return bytes, err == nil, err
}

// Only restricts a store to the two objects of key: any other is ErrDenied.
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
