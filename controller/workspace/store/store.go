// Package store accesses the object stores of Workspaces: it verifies and finds archives, and issues tickets to movers. No
// call takes longer than a time limit or holds a worker, and none reads the data of a home.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/controller/workspace/turns"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/lifecycle"
)

// DefaultTimeout is how long a store may take to answer.
const DefaultTimeout = 6 * time.Second

// ErrNotConfigured means that the Secret of the store is missing or does not describe a store. The wrapping error names the Secret and
// the key in it.
var ErrNotConfigured = errors.New("the object store is not configured")

// Client accesses the stores that Secrets describe. It is safe for concurrent use.
type Client struct {
	// Secrets reads one Secret from the API server: no cache holds all Secrets of a cluster.
	Secrets client.Reader
	Options connect.Options
	// Clock is the wall clock. Timeout is how long a store may take to answer; 0 means DefaultTimeout.
	Clock   clock.PassiveClock
	Timeout time.Duration

	mu     sync.Mutex
	opened map[types.NamespacedName]opened
}

// opened is a store, its address, and the version of the Secret that described it. Its connections are reused.
type opened struct {
	version, address string
	breaker          *breaker
	// recipients are those for whom movers encrypt. misaddressed is what is wrong with them: then nothing is archived, but everything
	// is restored (W93).
	recipients   []string
	misaddressed error
	// secrets are values of the Secret that no message may have.
	secrets []string
	archive.Issuer
}

// open returns the store that the Secret describes. The error is ErrNotConfigured or the API server's.
func (c *Client) open(ctx context.Context, secret types.NamespacedName) (opened, error) {
	var found corev1.Secret
	if err := c.Secrets.Get(ctx, secret, &found); apierrors.IsNotFound(err) {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.opened, secret)
		return opened{}, fmt.Errorf("%w: Secret %s does not exist", ErrNotConfigured, secret.Name)
	} else if err != nil {
		return opened{}, fmt.Errorf("read Secret %s: %w", secret.Name, err)
	}
	version := string(found.UID) + "/" + found.ResourceVersion
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.opened[secret]; known.version == version {
		return known, nil
	}
	options := c.Options
	options.Namespace = secret.Namespace
	issuer, err := connect.Open(found.Data, options)
	if err != nil {
		return opened{}, fmt.Errorf("%w: Secret %s: %w", ErrNotConfigured, secret.Name, err)
	}
	if c.opened == nil {
		c.opened = map[types.NamespacedName]opened{}
	}
	store := opened{version: version, address: addressOf(found.Data), breaker: &breaker{}, secrets: secretsOf(found.Data), Issuer: issuer}
	if store.recipients, err = connect.Recipients(found.Data); err != nil {
		store.misaddressed = fmt.Errorf("%w: Secret %s: %w", ErrNotConfigured, secret.Name, err)
	}
	c.opened[secret] = store
	return store, nil
}

// ask opens the store and calls it. The error is turns.ErrBusy if it was not called because of the limits for calls.
func (c *Client) ask(ctx context.Context, secret types.NamespacedName, call func(context.Context, opened) error) error {
	store, err := c.open(ctx, secret)
	if err == nil {
		err = store.breaker.check(c.Clock.Now())
	}
	if err != nil {
		return err
	}
	busy := turns.Call(ctx, secret, func() {
		var probe bool
		if probe, err = store.breaker.begin(c.Clock.Now()); err != nil {
			return
		}
		defer func() { store.breaker.end(c.Clock.Now(), probe, ctx.Err() != nil, err) }() // also after a panic
		limited, cancel := context.WithTimeout(ctx, cmp.Or(c.Timeout, DefaultTimeout))
		defer cancel()
		err = store.conceal(call(limited, store))
	})
	if busy != nil {
		return busy
	}
	return err
}

// askFor asks the store about the archive at key.
func (c *Client) askFor(ctx context.Context, secret types.NamespacedName, key string, call func(context.Context, opened, archive.Key) error) error {
	parsed, err := archive.ParseKey(key)
	if err != nil {
		return err
	}
	return c.ask(ctx, secret, func(ctx context.Context, store opened) error { return call(ctx, store, parsed) })
}

// maxAddress is the maximum length of status.archive.store. A folder with a longer name has no address, and no
// conclusions are drawn from it.
const maxAddress = 1024

func addressOf(secret map[string][]byte) string {
	address := connect.Address(secret)
	if len(address) > maxAddress || !utf8.ValidString(address) {
		return ""
	}
	return address
}

// Verify checks the archive at key for a Workspace of a name: data and marker must exist, and the marker must describe the data. The
// error is the reason for any verdict other than Verified.
func (c *Client) Verify(ctx context.Context, secret types.NamespacedName, workspace, key string, now time.Time) (lifecycle.ArchiveView, error) {
	view := lifecycle.ArchiveView{Key: key, Verdict: lifecycle.StoreUnreachable}
	err := c.ask(ctx, secret, func(ctx context.Context, store opened) error {
		view.Store = store.address
		parsed, err := archive.ParseKey(key)
		if err != nil {
			view.Verdict = lifecycle.Corrupt
			return err
		}
		marker, err := archive.Committed(ctx, store.Issuer, parsed, archive.Want{})
		if err == nil {
			view.Kept, err = archive.IsKeptAs(ctx, store.Issuer, parsed, secret.Namespace, workspace)
		}
		if err != nil {
			probed := probe(ctx, store, err)
			view.Verdict = verdict(err, probed)
			return unreached(err, probed)
		}
		view.Verdict, view.Archive = lifecycle.Verified, describe(marker, now)
		return nil
	})
	return view, err
}

// probe checks the bucket itself if the error could mean that something is lost (D23).
func probe(ctx context.Context, store archive.Store, err error) error {
	if errors.Is(err, archive.ErrNotFound) || errors.Is(err, archive.ErrCorrupt) {
		return store.HeadBucket(ctx)
	}
	return err
}

// unreached is err, and why the bucket itself did not answer.
func unreached(err, probe error) error {
	if unanswered(probe) && !unanswered(err) {
		return fmt.Errorf("%w: %w", err, probe)
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

// describe converts a marker for the engine.
func describe(marker archive.Marker, now time.Time) lifecycle.Archive {
	return lifecycle.Archive{
		SHA256: marker.SHA256, Size: marker.Size, VolumeUID: marker.VolumeUID, Epoch: marker.Epoch, CompletedAt: now,
		LeftOut: marker.ShownLeftOut(),
	}
}

// Code returns the engine's code for an error of a store.
func Code(err error) lifecycle.Code {
	switch {
	case errors.Is(err, ErrNotConfigured), errors.Is(err, archive.ErrNotEncrypted):
		return lifecycle.CodeArchiveNotConfigured
	case errors.Is(err, archive.ErrBucketMissing):
		return lifecycle.CodeBucketMissing
	default:
		return lifecycle.CodeStoreUnreachable
	}
}
