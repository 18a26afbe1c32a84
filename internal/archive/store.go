package archive

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// What can go wrong with a store. Adapters wrap exactly one of these around what they were told.
var (
	// ErrNotFound: there is no such object, though the bucket is there.
	ErrNotFound = errors.New("the object does not exist")
	// ErrBucketMissing: the bucket or the folder of the store is not there. It tells nothing of
	// objects (D23).
	ErrBucketMissing = errors.New("the bucket does not exist")
	// ErrExists: an object of this name is there already, and stays as it is.
	ErrExists = errors.New("the object exists already")
	// ErrDenied: the credentials do not allow it, or have run out.
	ErrDenied = errors.New("the store refuses access")
	// ErrUnreachable: there was no answer, or one that may be another next time.
	ErrUnreachable = errors.New("the store cannot be reached")
	// ErrCorrupt: the stored bytes are not what they should be.
	ErrCorrupt = errors.New("the archive is damaged")
	// ErrTooLarge: the object needs more bytes than were allowed for.
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
	// Head tells what is stored, or ErrNotFound.
	Head(ctx context.Context, name string) (Object, error)
	// Get opens an object, or ErrNotFound. Object is as Head's. A body that ends before
	// Object.Size bytes ends with an error.
	Get(ctx context.Context, name string) (io.ReadCloser, Object, error)
}

// Writer makes objects, never over one that exists: exactly one of any number of racing calls
// wins, the others get ErrExists. An object is whole or not there.
type Writer interface {
	// Put stores a small object.
	Put(ctx context.Context, name string, body []byte) error
	// PutStream stores what body gives until EOF. If body fails, nothing is stored and its error
	// comes back wrapped.
	PutStream(ctx context.Context, name string, body io.Reader) error
}

// MoverStore is all that a mover has: it can read, and it can create once. It cannot overwrite,
// list or delete.
type MoverStore interface {
	Reader
	Writer
}

// Store is an object store as the operator has it.
type Store interface {
	MoverStore
	// List gives the objects whose names begin with prefix, in the order of their names, a page at a time as
	// they are asked for. After an error nothing follows.
	List(ctx context.Context, prefix string) iter.Seq2[Object, error]
	// Delete deletes an object. One that is not there is deleted already.
	Delete(ctx context.Context, name string) error
	// HeadBucket is nil if the bucket is there and answers, else ErrBucketMissing,
	// ErrDenied or ErrUnreachable. Only after nil does ErrNotFound mean that data are lost (D23).
	HeadBucket(ctx context.Context) error
}
