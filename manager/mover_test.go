package manager

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/internal/archive/mover"
	"kyklos.io/kyklos/internal/buildinfo"
)

// moverRun runs a mover as its Job does, and returns its result and the exit code of a failure of the mover itself.
func moverRun(t *testing.T, args ...string) (result mover.Result, log string, code int, err error) {
	t.Helper()
	termination := filepath.Join(t.TempDir(), "termination-log")
	var out bytes.Buffer
	command := newCommand()
	command.SetErr(&out)
	command.SetArgs(append(append([]string{"mover"}, args...), "--termination-log", termination))
	err = command.ExecuteContext(t.Context())
	if text, readErr := os.ReadFile(termination); readErr == nil {
		if result, readErr = mover.ParseResult(string(text)); readErr != nil {
			t.Error(readErr)
		}
	}
	if failure, ok := errors.AsType[*mover.Failure](err); ok {
		code = failure.ExitCode()
	}
	return result, out.String(), code, err
}

func TestMoversMoveAHome(t *testing.T) {
	store, from, to, ticket := t.TempDir(), t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "ticket.json")
	key := archive.Key{UID: "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11", OpID: "f47ac10b-58cc-4372-a567-0e02b2c3d479"}
	issued, err := filestore.New(store).Issue(t.Context(), archive.Order{Key: key, Now: time.Now(), Valid: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(issued)
	if err := errors.Join(err, os.WriteFile(ticket, text, 0o600), os.Mkdir(filepath.Join(from, "home"), 0o755),
		os.WriteFile(filepath.Join(from, "home", "file"), []byte("hello"), 0o644)); err != nil {
		t.Fatal(err)
	}
	archiveArgs := []string{"archive", "--ticket", ticket, "--volume", from, "--volume-uid", "v1", "--epoch", "2", "--workspace", "team/ann"}
	restoreArgs := []string{"restore", "--ticket", ticket, "--volume", to, "--volume-uid", "v2", "--operation", "op"}

	result, _, code, err := moverRun(t, restoreArgs...)
	if result.Code != mover.MetaNotFound || code != 13 {
		t.Errorf("before it was archived: %+v, %v", result, err)
	}
	result, log, _, err := moverRun(t, archiveArgs...)
	if err != nil || result.Code != mover.OK || !strings.Contains(log, "code=OK") {
		t.Fatalf("%+v, %v, %s", result, err, log)
	}
	marker, err := archive.Committed(t.Context(), filestore.New(store), key, archive.Want{VolumeUID: "v1", Epoch: 2, SHA256: result.SHA256})
	if err != nil || marker.Workspace != "team/ann" || marker.Mover != buildinfo.Version() {
		t.Errorf("%+v, %v", marker, err)
	}
	if result, _, code, err := moverRun(t, append(restoreArgs, "--sha256", strings.Repeat("0", 64))...); result.Code != mover.ChecksumMismatch || code != 13 {
		t.Errorf("another sum: %+v, %v", result, err)
	}
	if result, _, _, err := moverRun(t, append(restoreArgs, "--sha256", marker.SHA256, "--progress-every", "1us")...); err != nil || result.Tree != marker.Tree {
		t.Errorf("%+v, %v", result, err)
	}
	if got, err := os.ReadFile(filepath.Join(to, "home", "file")); string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestMoversSayWhatIsMissing(t *testing.T) {
	ticket := filepath.Join(t.TempDir(), "ticket.json")
	if err := os.WriteFile(ticket, []byte(`{"key":"archives/x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		`required flag(s) "ticket", "volume", "volume-uid" not set`:                                       {"archive"},
		`required flag(s) "operation", "ticket", "volume", "volume-uid" not set`:                          {"restore"},
		"open /no/ticket: no such file or directory":                                                      {"archive", "--ticket", "/no/ticket", "--volume", "/", "--volume-uid", "v"},
		"--progress-every: must be above 0, not 0s":                                                       {"archive", "--ticket", ticket, "--volume", "/", "--volume-uid", "v", "--progress-every", "0s"},
		`the ticket's key: "archives/x" is not an archive: it must be archives/UID/OPERATION/home.tar.gz`: {"archive", "--ticket", ticket, "--volume", "/", "--volume-uid", "v"},
	} {
		if _, _, code, err := moverRun(t, args...); err == nil || err.Error() != want || code != 0 {
			t.Errorf("got %v (a failure of the mover: %d), want %s", err, code, want)
		}
	}
}
