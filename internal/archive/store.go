package archive

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Errors of a store. Adapters wrap exactly one of these.
var (
	// ErrNotFound: the bucket exists, the object does not.
	ErrNotFound = errors.New("the object does not exist")
	// ErrBucketMissing: the bucket or the folder of the store does not exist. It says nothing about objects (D23).
	ErrBucketMissing = errors.New("the bucket does not exist")
	// ErrExists: an object of this name already exists and is unchanged.
	ErrExists = errors.New("the object already exists")
	// ErrDenied: the credentials do not allow it, or have expired.
	ErrDenied = errors.New("the store refuses access")
	// ErrUnreachable: there was no answer, or a temporary failure.
	ErrUnreachable = errors.New("the store cannot be reached")
	// ErrCorrupt: the stored bytes are not the expected ones.
	ErrCorrupt = errors.New("the archive is damaged")
	// ErrNotEncrypted: the store did not confirm the encryption that was asked for.
	ErrNotEncrypted = errors.New("the store does not encrypt as asked")
	// ErrTooLarge: the object needs more bytes than allowed.
	ErrTooLarge = errors.New("the archive is too large")
)

// Object is one stored object.
type Object struct {
	Name     string
	Size     int64
	Modified time.Time // by the store's clock
}

// Reader reads objects.
type Reader interface {
	// Head describes an object, or returns ErrNotFound.
	Head(ctx context.Context, name string) (Object, error)
	// Get opens an object, or returns ErrNotFound. A body that ends before Object.Size bytes ends with an error.
	Get(ctx context.Context, name string) (io.ReadCloser, Object, error)
}

// Writer creates objects and never overwrites: exactly one of several racing calls wins, the others get ErrExists. An
// object is complete or does not exist.
type Writer interface {
	// Put stores a small object.
	Put(ctx context.Context, name string, body []byte) error
	// PutStream stores body up to EOF. If body fails, nothing is stored and its error is returned wrapped.
	PutStream(ctx context.Context, name string, body io.Reader) error
}

// MoverStore is a mover's access: it can read, and create once. It cannot overwrite, list or delete.
type MoverStore interface {
	Reader
	Writer
}

// Store is the operator's access to an object store.
type Store interface {
	MoverStore
	// List yields the objects whose names start with prefix, sorted by name, page by page. Nothing follows an error.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete deletes an object; a missing one is not an error.
	Delete(ctx context.Context, name string) error
	// HeadBucket returns nil if the bucket exists and answers, else ErrBucketMissing, ErrDenied or ErrUnreachable. Only
	// after nil does ErrNotFound mean that data are lost (D23).
	HeadBucket(ctx context.Context) error
}
