package mover

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/archive"
)

// W53: each code belongs to one class of errors.
func TestEveryCodeHasAReason(t *testing.T) {
	want := map[Code]string{
		OK: "", ArchiveNotFound: DataLost, MetaNotFound: DataLost, ChecksumMismatch: DataLost, HomeMissing: DataLost,
		StoreAccess: Unreachable, BucketMissing: Unreachable, HomeExists: Mismatch, VolumeMismatch: Mismatch,
		ArchiveUnverified: ActionFailed, HomeChanged: ActionFailed, HomeUnreadable: ActionFailed, FilesBesideHome: ActionFailed, HomeTooLarge: ActionFailed, IdentityMissing: ActionFailed, VolumeBusy: ActionFailed,
		ArchiveTooLarge: ActionFailed, DiskFull: ActionFailed, TarCreateFailed: ActionFailed, TarExtractFailed: ActionFailed, Cancelled: ActionFailed,
	}
	exits := map[string]int{}
	for code, reason := range want {
		if got := code.Reason(); got != reason {
			t.Errorf("%s: %s, want %s", code, got, reason)
		}
		exits[reason] = code.ExitCode()
	}
	if diff := cmp.Diff(map[string]int{"": 0, Unreachable: 10, ActionFailed: 11, Mismatch: 12, DataLost: 13}, exits); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestResultsFitIntoATerminationMessage(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := Result{
			Code: DiskFull, Message: rapid.StringN(0, 9000, -1).Draw(r, "message"),
			LeftOut: rapid.SliceOfN(rapid.StringN(0, 500, -1), 0, 10).Draw(r, "leftOut"), LeftOutCount: 99,
		}
		text := want.JSON()
		got, err := ParseResult(string(text))
		if err != nil || len(text) > maxMessage || got.Code != DiskFull || got.LeftOutCount != 99 {
			r.Fatalf("%d bytes, %v: %s", len(text), err, text)
		}
		if whole, _ := json.Marshal(want); len(whole) <= maxMessage && string(whole) != string(text) {
			r.Error("it was cut, though it fits")
		}
	})
}

func TestOtherMessagesAreNotResults(t *testing.T) {
	for _, message := range []string{"", "{}", "panic: x", `{"code":""}`, "[]", `{"code":1}`} {
		if got, err := ParseResult(message); err == nil {
			t.Errorf("%q became %+v", message, got)
		}
	}
}

func TestFailuresSayWhat(t *testing.T) {
	failed := Failed(key, restoreFailure(errors.Join(archive.ErrUnreachable, archive.ErrNotFound)))
	if failed.Code != StoreAccess || failed.Key != key.Data() || !strings.Contains(failed.Message, "cannot be reached") {
		t.Errorf("got %+v", failed)
	}
	if failed := Failed(key, errors.New("odd")); failed.Code != TarCreateFailed || failed.Message != "odd" {
		t.Errorf("got %+v", failed)
	}
}
