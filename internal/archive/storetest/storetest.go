// Package storetest tests the contract of archive.Store.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/archive"
)

// errBroken is what a stream of the contract fails with.
var errBroken = errors.New("the stream broke")

// Contract tests an empty store. big is a length that the store treats as a large object.
func Contract(t *testing.T, store archive.Store, big int) {
	if err := store.HeadBucket(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Run("what is not there", func(t *testing.T) { missing(t, store) })
	t.Run("small", func(t *testing.T) { roundTrip(t, store, "contract/small/object", []byte("hello")) })
	t.Run("empty", func(t *testing.T) { roundTrip(t, store, "contract/empty/object", nil) })
	t.Run("big", func(t *testing.T) { roundTrip(t, store, "contract/big/object", noise(big)) })
	t.Run("broken", func(t *testing.T) { broken(t, store, big) })
	t.Run("race", func(t *testing.T) { race(t, store, "contract/race", 10) })
	t.Run("race of big ones", func(t *testing.T) { race(t, store, "contract/race-big", big) })
	t.Run("list", func(t *testing.T) { list(t, store) })
}

// noise is content that is different at every place.
func noise(size int) []byte {
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(i>>16) ^ byte(i>>8) ^ byte(i)
	}
	return body
}

func missing(t *testing.T, store archive.Store) {
	if _, err := store.Head(t.Context(), "contract/nothing"); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("Head: %v, want ErrNotFound", err)
	}
	if _, _, err := store.Get(t.Context(), "contract/nothing"); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("Get: %v, want ErrNotFound", err)
	}
	if err := store.Delete(t.Context(), "contract/nothing"); err != nil {
		t.Errorf("Delete: %v", err)
	}
	for object, err := range store.List(t.Context(), "contract/") {
		t.Errorf("List: %v, %v, want nothing", object, err)
	}
}

func read(t *testing.T, store archive.Store, name string) []byte {
	t.Helper()
	body, object, err := store.Get(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = body.Close() }()
	content, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	head, err := store.Head(t.Context(), name)
	if err != nil || head.Size != int64(len(content)) || head.Name != name || head.Modified.IsZero() {
		t.Errorf("Head: %+v, %v, want %d bytes", head, err, len(content))
	}
	if object != head {
		t.Errorf("Get says %+v, Head %+v", object, head)
	}
	return content
}

// roundTrip stores an object in both ways and checks that the first one is not replaced.
func roundTrip(t *testing.T, store archive.Store, name string, content []byte) {
	if err := store.PutStream(t.Context(), name, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := read(t, store, name); !bytes.Equal(got, content) {
			t.Fatalf("got %d bytes back, other than the %d that were stored", len(got), len(content))
		}
		other := bytes.Repeat([]byte("x"), len(content)+1)
		if err := store.Put(t.Context(), name, other); !errors.Is(err, archive.ErrExists) {
			t.Errorf("Put again: %v, want ErrExists", err)
		}
		if err := store.PutStream(t.Context(), name, bytes.NewReader(other)); !errors.Is(err, archive.ErrExists) {
			t.Errorf("PutStream again: %v, want ErrExists", err)
		}
	}
	if err := store.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if err := store.Put(t.Context(), name, []byte("new")); err != nil {
		t.Fatalf("after it was deleted: %v", err)
	}
	if got := read(t, store, name); string(got) != "new" {
		t.Errorf("got %q, want new", got)
	}
}

// broken streams leave nothing behind.
func broken(t *testing.T, store archive.Store, big int) {
	for _, size := range []int{0, 10, big} {
		name := fmt.Sprint("contract/broken/", size)
		body := io.MultiReader(bytes.NewReader(noise(size)), failing{})
		if err := store.PutStream(t.Context(), name, body); !errors.Is(err, errBroken) {
			t.Errorf("%d bytes: %v, want the stream's error", size, err)
		}
		if _, err := store.Head(t.Context(), name); !errors.Is(err, archive.ErrNotFound) {
			t.Errorf("%d bytes: Head: %v, want ErrNotFound", size, err)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBroken }

// race has exactly one winner, whose object it is.
func race(t *testing.T, store archive.Store, name string, size int) {
	const racers = 16
	var won atomic.Int32
	var winner atomic.Int32
	var group sync.WaitGroup
	for i := range racers {
		group.Go(func() {
			content := bytes.Repeat([]byte{byte('a' + i)}, size)
			err := store.PutStream(t.Context(), name, bytes.NewReader(content))
			switch {
			case err == nil:
				won.Add(1)
				winner.Store(int32(i))
			case !errors.Is(err, archive.ErrExists):
				t.Errorf("racer %d: %v, want ErrExists", i, err)
			}
		})
	}
	group.Wait()
	want := bytes.Repeat([]byte{byte('a' + winner.Load())}, size)
	if got := read(t, store, name); won.Load() != 1 || !bytes.Equal(got, want) {
		t.Errorf("%d of %d won, and the object is not the winner's", won.Load(), racers)
	}
}

func list(t *testing.T, store archive.Store) {
	names := []string{"list/a", "list/a-b", "list/a/b", "list/a/c/d", "list/ab"}
	for i, name := range names {
		if name == "list/a" {
			name = "list/a.x" // no file store has both list/a and list/a/b
			names[i] = name
		}
		if err := store.Put(t.Context(), name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(names)
	for prefix, want := range map[string][]string{
		"list/": names, "list/a/": names[2:4], "list/a": names, "list/a/c": names[3:4], "list/b": nil, "list": names,
	} {
		var got []string
		for object, err := range store.List(t.Context(), prefix) {
			if err != nil {
				t.Fatal(err)
			}
			if object.Size != int64(len(object.Name)) {
				t.Errorf("%s has %d bytes", object.Name, object.Size)
			}
			got = append(got, object.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", prefix, diff)
		}
	}
	for object, err := range store.List(t.Context(), "list/") { // stops when the loop ends
		if err != nil || object.Name != names[0] {
			t.Errorf("first is %s, %v, want %s", object.Name, err, names[0])
		}
		break
	}
}
