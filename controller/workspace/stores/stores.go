// Package stores looks into the object stores of Workspaces, on behalf of their reconciler: what is
// under a key, what a mover may reach, and what was forgotten. No call lasts longer than Patience, and
// none reads the data of a home.
package stores

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Patience is how long a store may take to answer. A worker waits for it.
const Patience = 6 * time.Second

// ErrNotConfigured says that the Secret of the store is missing, or does not say which store. The error
// around it names the Secret, and the key in it.
var ErrNotConfigured = errors.New("the object store is not configured")

// Stores opens the stores that Secrets name. It is safe for concurrent use.
type Stores struct {
	// Secrets reads one Secret from the API server itself: no cache holds all of a cluster.
	Secrets client.Reader
	Options connect.Options

	mu     sync.Mutex
	opened map[types.NamespacedName]opened
}

// opened is a store, its address, and the version of the Secret that it was made of. Its connections are kept.
type opened struct {
	version, address string
	archive.Issuer
}

// Open returns the store that the Secret names. The error is ErrNotConfigured, or the API server's.
func (s *Stores) Open(ctx context.Context, secret types.NamespacedName) (archive.Issuer, error) {
	store, err := s.open(ctx, secret)
	if err != nil {
		return nil, err
	}
	return store.Issuer, nil
}

func (s *Stores) open(ctx context.Context, secret types.NamespacedName) (opened, error) {
	var found corev1.Secret
	if err := s.Secrets.Get(ctx, secret, &found); apierrors.IsNotFound(err) {
		return opened{}, fmt.Errorf("%w: there is no Secret %s", ErrNotConfigured, secret.Name)
	} else if err != nil {
		return opened{}, fmt.Errorf("read the Secret %s: %w", secret.Name, err)
	}
	version := string(found.UID) + "/" + found.ResourceVersion
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.opened[secret]; known.version == version {
		return known, nil
	}
	issuer, err := connect.Open(found.Data, s.Options)
	if err != nil {
		return opened{}, fmt.Errorf("%w: Secret %s: %w", ErrNotConfigured, secret.Name, err)
	}
	if s.opened == nil {
		s.opened = map[types.NamespacedName]opened{}
	}
	store := opened{version, addressOf(found.Data), issuer}
	s.opened[secret] = store
	return store, nil
}

// maxAddress is how long status.archive.store can be. The few folders with a longer name have no address:
// nothing is concluded from theirs then.
const maxAddress = 1024

func addressOf(secret map[string][]byte) string {
	address := connect.Address(secret)
	if len(address) > maxAddress || !utf8.ValidString(address) {
		return ""
	}
	return address
}

// Forget closes what was opened for a Secret that nobody names any more.
func (s *Stores) Forget(secret types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.opened, secret)
}

// Look tells what is under key: whether marker and data are there, and the marker describes the data.
// Beside the verdict comes the reason for one that is not Verified, in words.
func (s *Stores) Look(ctx context.Context, secret types.NamespacedName, key string, now time.Time) (lifecycle.ArchiveView, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	view := lifecycle.ArchiveView{Key: key}
	store, err := s.open(ctx, secret)
	if err != nil {
		view.Verdict = lifecycle.StoreUnreachable
		return view, err
	}
	view.Store = store.address
	parsed, err := archive.ParseKey(key)
	if err != nil {
		view.Verdict = lifecycle.Corrupt
		return view, err
	}
	marker, err := archive.Committed(ctx, store, parsed, archive.Want{})
	if err == nil {
		view.Kept, err = archive.IsKept(ctx, store, parsed)
	}
	if err != nil {
		view.Verdict = verdict(err, probe(ctx, store, err))
		return view, err
	}
	view.Verdict, view.Archive = lifecycle.Verified, described(marker, now)
	return view, nil
}

// probe asks for the bucket itself where an answer could mean that something is lost (D23).
func probe(ctx context.Context, store archive.Store, err error) error {
	if errors.Is(err, archive.ErrNotFound) || errors.Is(err, archive.ErrCorrupt) {
		return store.HeadBucket(ctx)
	}
	return err
}

func verdict(err, probe error) lifecycle.Verdict {
	switch {
	case errors.Is(err, archive.ErrBucketMissing), errors.Is(probe, archive.ErrBucketMissing):
		return lifecycle.BucketMissing
	case !archive.Lost(err, probe):
		return lifecycle.StoreUnreachable
	case errors.Is(err, archive.ErrCorrupt):
		return lifecycle.Corrupt
	default:
		return lifecycle.Absent
	}
}

// described is a marker in the engine's words.
func described(marker archive.Marker, now time.Time) lifecycle.Archive {
	return lifecycle.Archive{
		SHA256: marker.SHA256, Size: marker.Size, VolumeUID: marker.VolumeUID, Epoch: marker.Epoch, CompletedAt: now,
	}
}

// Code tells in the engine's words why a store could not be asked.
func Code(err error) lifecycle.Code {
	switch {
	case errors.Is(err, ErrNotConfigured):
		return lifecycle.CodeArchiveNotConfigured
	case errors.Is(err, archive.ErrBucketMissing):
		return lifecycle.CodeBucketMissing
	default:
		return lifecycle.CodeStoreUnreachable
	}
}
