package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/lifecycle"
)

// endless is a store with any number of archives.
type endless struct{ archive.Store }

func (endless) List(context.Context, string) iter.Seq2[archive.Object, error] {
	return func(yield func(archive.Object, error) bool) {
		for i := 0; ; i++ {
			key := archive.Key{UID: "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11", OpID: fmt.Sprintf("f47ac10b-58cc-4372-a567-%012d", i)}
			if !yield(archive.Object{Name: key.Marker()}, nil) {
				return
			}
		}
	}
}

func TestAnEndlessListOfArchives(t *testing.T) {
	if found, err := newestFirst(t.Context(), endless{}, "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11"); found != nil || !errors.Is(err, errArchives) || archive.Lost(err, nil) {
		t.Errorf("%d archives, %v", len(found), err)
	}
}

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

// One who creates and deletes Secrets does not fill the memory.
func TestADeletedSecretIsForgotten(t *testing.T) {
	secret := types.NamespacedName{Namespace: "team", Name: "store"}
	c := &Client{Secrets: none{}, opened: map[types.NamespacedName]opened{secret: {version: "u/1"}}}
	if _, err := c.open(t.Context(), secret); !errors.Is(err, ErrNotConfigured) || len(c.opened) > 0 {
		t.Errorf("%v, %v", c.opened, err)
	}
}

// none is an API server without Secrets.
type none struct{ client.Reader }

func (none) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "store")
}
