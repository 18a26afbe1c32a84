package workspace

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/message"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
	"kyklos.io/kyklos/internal/archive/mover"
)

// moving reconciles until a mover runs, and returns its ticket.
func (w *world) moving(desired v1alpha1.DesiredState) (job string, ticket archive.Ticket) {
	w.Helper()
	w.keepJobs = true
	w.desire(desired)
	for job == "" || !w.has(job, &corev1.Secret{}) {
		_ = w.pass()
		w.nodes()
		w.clock.SetTime(w.clock.Now().Add(time.Second))
		job = w.workspace().Status.Operation.JobName
	}
	_ = w.pass() // observes the running mover
	secret, err := get(w.Context(), w.server, home.Namespace, job, &corev1.Secret{})
	w.update(err)
	ticket, err = objects.ReadTicket(secret)
	w.update(err)
	return job, ticket
}

// note writes the progress note of the mover with a ticket.
func (w *world) note(ticket archive.Ticket, progress archive.Progress) {
	w.Helper()
	opened, _, err := mover.Open(ticket)
	w.update(err)
	w.update(mover.Noter(ticket, opened)(w.Context(), progress))
}

// expectProgress checks the progress in the status, a while later.
func (w *world) expectProgress(want string, later time.Duration) {
	w.Helper()
	w.clock.SetTime(w.clock.Now().Add(later))
	_ = w.pass()
	if got := w.workspace().Status.Operation.Progress; got != want {
		w.Errorf("%v later: %q, want %q", later, got, want)
	}
	if w.wait > pollEvery {
		w.Errorf("it polls again only after %v", w.wait)
	}
}

// The status has the mover's progress, for archives and restores, as long as the mover runs; and what the mover
// left in the store is deleted.
func TestProgressOfMovers(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	_, ticket := w.moving(v1alpha1.DesiredPending)
	w.expectProgress("", pollEvery)
	packing := archive.Progress{Step: archive.Packing, Entries: 3, Bytes: 512, OfBytes: 4 << 30, OfEntries: 9}
	w.note(ticket, packing)
	w.expectProgress("", time.Second)
	w.expectProgress(message.Progress(packing), pollEvery)
	stale := ticket
	stale.Attempt += "0"
	w.note(stale, archive.Progress{Step: archive.Verifying})
	w.expectProgress(message.Progress(packing), pollEvery)
	w.note(ticket, archive.Progress{Step: "juggling"})
	w.expectProgress(message.Progress(packing), pollEvery)
	verifying := archive.Progress{Step: archive.Verifying, Bytes: 3 << 30, OfBytes: 4 << 30}
	w.note(ticket, verifying)
	w.expectProgress(message.Progress(verifying), pollEvery)
	w.ends("ARCHIVED")

	_, ticket = w.moving(v1alpha1.DesiredStandby)
	unpacking := archive.Progress{Step: archive.Unpacking, Bytes: 1, OfBytes: 3, Entries: 1, OfEntries: 2}
	w.note(ticket, unpacking)
	w.expectProgress(message.Progress(unpacking), pollEvery)
	w.ends("STANDBY")
}

// ends lets the movers finish, and checks that their notes are gone.
func (w *world) ends(state string) {
	w.Helper()
	w.keepJobs = false
	w.converge()
	w.expectState(state)
	if got := w.workspace().Status.Operation.Progress; got != "" {
		w.Errorf("it is still %q", got)
	}
	if notes, err := filepath.Glob(filepath.Join(w.bucket, "archives", "*", "*", "progress.json")); err != nil || len(notes) > 0 {
		w.Errorf("left in the store: %v, %v", notes, err)
	}
}

// A damaged note and a missing store change nothing.
func TestFailedProgressDoesNotFailTheMover(t *testing.T) {
	t.Parallel()
	w := inStandby(t)
	_, ticket := w.moving(v1alpha1.DesiredPending)
	packing := archive.Progress{Step: archive.Packing, Bytes: 1, Entries: 1}
	w.note(ticket, packing)
	w.expectProgress(message.Progress(packing), pollEvery)
	key, err := archive.ParseKey(ticket.Key)
	w.update(errors.Join(err, os.WriteFile(filepath.Join(w.bucket, key.Note()), []byte("{"), 0o600)))
	w.expectProgress(message.Progress(packing), pollEvery)
	w.update(os.Rename(w.bucket, w.bucket+".away"))
	w.expectProgress(message.Progress(packing), pollEvery)
	w.update(os.Rename(w.bucket+".away", w.bucket))
	w.ends("ARCHIVED")
}

// The mover of an earlier version leaves no notes. Then the status has the size of the upload in the store, which
// is not read at each pass.
func TestProgressOfAnUpload(t *testing.T) {
	t.Parallel()
	stored, asked := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("uploadId") != "mine" {
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, `<Error><Code>NoSuchKey</Code></Error>`)
			return
		}
		asked++
		fmt.Fprintf(w, `<ListPartsResult><Part><PartNumber>1</PartNumber><Size>%d</Size></Part></ListPartsResult>`, stored)
	}))
	t.Cleanup(server.Close)
	w := inStandby(t)
	job, _ := w.moving(v1alpha1.DesiredPending)
	w.uploadsTo(server.URL, job)
	for _, now := range []struct {
		stored int
		later  time.Duration
		want   string
	}{
		{0, pollEvery, ""},
		{32 << 20, pollEvery, message.Uploaded(32 << 20)},
		{64 << 20, time.Second, message.Uploaded(32 << 20)},
		{64 << 20, pollEvery, message.Uploaded(64 << 20)},
		{96 << 20, -time.Hour, message.Uploaded(64 << 20)}, // by this clock the attempt has just started
		{96 << 20, time.Second, message.Uploaded(96 << 20)},
	} {
		stored = now.stored
		w.expectProgress(now.want, now.later)
	}
	if asked != 4 {
		t.Errorf("the store was asked %d times, want 4", asked)
	}
}

// uploadsTo changes the mover's ticket to an upload to an S3 store.
func (w *world) uploadsTo(endpoint, job string) {
	w.Helper()
	ctx := w.Context()
	secret, err := get(ctx, w.server, home.Namespace, storeName, &corev1.Secret{})
	w.update(err)
	secret.Data = map[string][]byte{
		connect.Endpoint: []byte(endpoint), connect.Bucket: []byte("homes"), connect.AccessKeyID: []byte("a"), connect.SecretAccessKey: []byte("b"),
	}
	w.update(w.server.Update(ctx, secret))
	secret, err = get(ctx, w.server, home.Namespace, job, &corev1.Secret{})
	w.update(err)
	ticket, err := objects.ReadTicket(secret)
	w.update(err)
	ticket.Upload = &archive.Upload{ID: "mine"}
	text, err := json.Marshal(ticket)
	w.update(err)
	for key := range secret.Data {
		secret.Data[key] = text
	}
	w.update(w.server.Update(ctx, secret))
}
