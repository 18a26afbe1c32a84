package workspace

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kyklos.io/kyklos/apis/v1alpha1"
	"kyklos.io/kyklos/controller/workspace/objects"
	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/connect"
)

// The status says how much of the home the store has, and does not ask it all the time.
func TestProgressOfAnUpload(t *testing.T) {
	t.Parallel()
	stored, asked := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("uploadId") != "mine" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		asked++
		fmt.Fprintf(w, `<ListPartsResult><Part><PartNumber>1</PartNumber><Size>%d</Size></Part></ListPartsResult>`, stored)
	}))
	t.Cleanup(server.Close)
	w := inStandby(t)
	w.keepJobs = true
	w.desire(v1alpha1.DesiredPending)
	job := ""
	for job == "" || !w.has(job, &corev1.Secret{}) {
		_ = w.pass()
		w.nodes()
		w.clock.SetTime(w.clock.Now().Add(time.Second))
		job = w.workspace().Status.Operation.JobName
	}
	w.uploadsTo(server.URL, job)
	for _, now := range []struct {
		stored int
		later  time.Duration
		want   string
	}{
		{32 << 20, progressEvery, "32 MiB are in the store"},
		{64 << 20, time.Second, "32 MiB are in the store"},
		{64 << 20, progressEvery, "64 MiB are in the store"},
	} {
		stored = now.stored
		w.clock.SetTime(w.clock.Now().Add(now.later))
		_ = w.pass()
		if got := w.workspace().Status.Operation.Progress; got != now.want {
			t.Errorf("%v later: %q, want %q", now.later, got, now.want)
		}
	}
	if asked != 2 {
		t.Errorf("the store was asked %d times, want 2", asked)
	}
}

// uploadsTo makes the mover's ticket one for an upload to an S3 store.
func (w *world) uploadsTo(endpoint, job string) {
	w.Helper()
	ctx := w.Context()
	secret, err := found(ctx, w.server, home.Namespace, storeName, &corev1.Secret{})
	w.update(err)
	secret.Data = map[string][]byte{
		connect.Endpoint: []byte(endpoint), connect.Bucket: []byte("homes"), connect.AccessKeyID: []byte("a"), connect.SecretAccessKey: []byte("b"),
	}
	w.update(w.server.Update(ctx, secret))
	secret, err = found(ctx, w.server, home.Namespace, job, &corev1.Secret{})
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
