package store

import (
	"context"
	"errors"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Wanted is the Workspace whose archive is searched, and what its home is to begin with if it has none.
type Wanted struct {
	Workspace types.NamespacedName
	UID       string
	// From is spec.restoreFrom.
	From string
}

// Find finds the newest archive of a Workspace or, if it has none, the one that its home is to begin with. A newer one that is not
// complete is never replaced by an older one (W100). The error is the reason for a verdict about the store.
func (c *Client) Find(ctx context.Context, secret types.NamespacedName, wanted Wanted, now time.Time) (lifecycle.ArchiveView, error) {
	found := lifecycle.ArchiveView{Verdict: lifecycle.StoreUnreachable}
	err := c.ask(ctx, secret, func(ctx context.Context, store opened) (err error) {
		found, err = find(ctx, store, wanted, now)
		found.Store = store.address
		return err
	})
	if errors.Is(err, ErrNotConfigured) {
		found.Verdict = lifecycle.NotConfigured
	}
	return found, err
}

func find(ctx context.Context, store opened, wanted Wanted, now time.Time) (lifecycle.ArchiveView, error) {
	own, err := newestFirst(ctx, store, wanted.UID)
	if err != nil {
		return unknown(err, err)
	}
	if len(own) > 0 {
		found, err := exactly(ctx, store, own[0], "", now)
		if found.Verdict == lifecycle.Absent { // its marker was listed
			found.Verdict = lifecycle.Corrupt
		}
		return found, err
	}
	switch from := wanted.From; from {
	case lifecycle.FromNothing:
		return lifecycle.ArchiveView{Verdict: lifecycle.Absent}, nil
	case "", lifecycle.FromLatest:
		return newestKept(ctx, store, wanted.Workspace, now)
	default:
		key, err := archive.ParseKey(from)
		if err != nil { // the API server accepts no such value
			return lifecycle.ArchiveView{Verdict: lifecycle.Absent}, nil //nolint:nilerr // it is not the store's
		}
		found, err := exactly(ctx, store, key, wanted.Workspace.Namespace, now)
		if found.Verdict == lifecycle.Corrupt { // whose it is may be unknown
			found = lifecycle.ArchiveView{Verdict: lifecycle.Absent}
		}
		return found, err
	}
}

func unknown(err, probe error) (lifecycle.ArchiveView, error) {
	return lifecycle.ArchiveView{Verdict: verdict(err, probe)}, err
}

// maxOlder is how many older archives are looked at to name one that is complete.
const maxOlder = 10

// newestKept returns the newest archive that was kept under the name. The object with its name proves that it was complete, so if it
// is not any more, it is KeptLost. One that was made in another namespace does not count.
func newestKept(ctx context.Context, store opened, workspace types.NamespacedName, now time.Time) (lifecycle.ArchiveView, error) {
	left, err := archive.Named(ctx, store.Issuer, workspace.Namespace, workspace.Name)
	if err != nil {
		return unknown(err, err)
	}
	newest := lifecycle.ArchiveView{Verdict: lifecycle.Absent}
	for looked, key := range left {
		found, err := exactly(ctx, store, key, workspace.Namespace, now)
		switch {
		case err != nil:
			return found, err
		case newest.Key == "" && found.Verdict == lifecycle.Verified:
			return found, nil
		case found.Verdict == lifecycle.Verified:
			newest.Older = found.Key
			return newest, nil
		case newest.Key == "" && found.Verdict != lifecycle.NotOurs:
			newest = lifecycle.ArchiveView{Key: found.Key, Verdict: lifecycle.KeptLost}
		}
		if newest.Key != "" && looked >= maxOlder {
			break
		}
	}
	return newest, nil
}

// exactly returns the archive at key. It is Absent without its marker, Corrupt if something else is wrong with it, and NotOurs if
// the marker names another namespace than the given one: whoever knows a key may not have that home (W70).
func exactly(ctx context.Context, store opened, key archive.Key, namespace string, now time.Time) (lifecycle.ArchiveView, error) {
	view := lifecycle.ArchiveView{Key: key.Data(), Verdict: lifecycle.Corrupt}
	marker, err := archive.ReadMarker(ctx, store.Issuer, key)
	switch {
	case err == nil && namespace != "" && !strings.HasPrefix(marker.Workspace, namespace+"/"):
		return lifecycle.ArchiveView{Verdict: lifecycle.NotOurs}, nil
	case err == nil:
		marker, err = archive.Committed(ctx, store.Issuer, key, archive.Want{SHA256: marker.SHA256})
	case errors.Is(err, archive.ErrNotFound):
		view.Verdict = lifecycle.Absent
	}
	if err == nil {
		view.Verdict, view.Archive = lifecycle.Verified, describe(marker, now)
		return view, nil
	}
	if probed := probe(ctx, store, err); !archive.Lost(err, probed) {
		return unknown(unreached(err, probed), probed)
	}
	return view, nil
}
