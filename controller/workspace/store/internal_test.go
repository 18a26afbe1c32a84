package store

import (
	"fmt"
	"testing"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// Nothing counts as lost or damaged unless the bucket itself has answered (D23).
func TestVerdict(t *testing.T) {
	for _, tc := range []struct {
		err, probe error
		want       lifecycle.Verdict
	}{
		{archive.ErrNotFound, nil, lifecycle.Absent},
		{archive.ErrNotFound, archive.ErrBucketMissing, lifecycle.BucketMissing},
		{archive.ErrNotFound, archive.ErrDenied, lifecycle.StoreUnreachable},
		{archive.ErrNotFound, archive.ErrUnreachable, lifecycle.StoreUnreachable},
		{archive.ErrCorrupt, nil, lifecycle.Corrupt},
		{archive.ErrCorrupt, archive.ErrUnreachable, lifecycle.StoreUnreachable},
		{archive.ErrBucketMissing, archive.ErrBucketMissing, lifecycle.BucketMissing},
		{archive.ErrDenied, nil, lifecycle.StoreUnreachable},
		{archive.ErrUnreachable, archive.ErrUnreachable, lifecycle.StoreUnreachable},
	} {
		if got := verdict(fmt.Errorf("x: %w", tc.err), tc.probe); got != tc.want {
			t.Errorf("%v, the bucket says %v: %s, want %s", tc.err, tc.probe, got, tc.want)
		}
	}
}
