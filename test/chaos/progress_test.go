package chaos

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
	"kyklos.io/kyklos/test/harness/fixtures"
)

// slowStore is a real store behind a connection that carries a third of a home at a time.
type slowStore struct{ turns, over chan struct{} }

// slow puts the store behind such a connection.
func (c *cohort) slow() *slowStore {
	c.Helper()
	slow := &slowStore{make(chan struct{}), make(chan struct{})}
	upstream, err := url.Parse(store.Endpoint)
	c.Must(err)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // it adds a header that is not signed
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.Out.Host = r.In.Host // it is signed
			if r.In.URL.Query().Has("partNumber") {
				r.Out.Body = slow.thirds(r.In.Context(), r.In.Body, r.In.ContentLength)
			}
		},
		Transport: transport,
		ModifyResponse: func(response *http.Response) error {
			asked := response.Request
			parts := asked.URL.Query().Has("uploadId") // the manager lists them
			if asked.Method == http.MethodGet && response.StatusCode == http.StatusOK && strings.HasSuffix(asked.URL.Path, "/home.tar.gz") && !parts {
				response.Body = slow.thirds(asked.Context(), response.Body, response.ContentLength)
			}
			return nil
		},
	})
	c.Cleanup(func() {
		close(slow.over)
		server.CloseClientConnections()
		server.Close()
		transport.CloseIdleConnections()
	})
	c.setStore("endpoint", server.URL)
	return slow
}

// thirds waits for a turn before the second and the last third of a body. A request that has ended takes no turn.
func (s *slowStore) thirds(ctx context.Context, body io.ReadCloser, length int64) io.ReadCloser {
	return &thirds{ReadCloser: body, store: s, ended: ctx.Done(), third: length/3 + 1, left: length/3 + 1}
}

type thirds struct {
	io.ReadCloser
	store       *slowStore
	ended       <-chan struct{}
	third, left int64
}

func (t *thirds) Read(into []byte) (int, error) {
	if t.left == 0 {
		select {
		case <-t.store.turns:
		case <-t.ended:
			return 0, context.Canceled
		case <-t.store.over:
		}
		t.left = t.third
	}
	n, err := t.ReadCloser.Read(into[:min(int64(len(into)), t.left)])
	t.left -= int64(n)
	return n, err
}

// turn lets the connection carry one third more.
func (c *cohort) turn(slow *slowStore) {
	c.Helper()
	select {
	case slow.turns <- struct{}{}:
	case <-time.After(harness.Patience):
		c.Fatal("no request waits for the store")
	}
}

// progress waits until status.operation.progress matches form with another number than last, and returns the number.
// It moves the clock by half a minute every few polls, because the manager reads the progress no more often, and then
// writes to the Workspace to start a pass. A write at each poll would make every slow pass end in a conflict.
func (c *cohort) progress(name, form string, last float64) (number float64) {
	c.Helper()
	ws, like := c.named(name), regexp.MustCompile(form)
	said, polls := "", 0
	err := wait.PollUntilContextTimeout(c.Context(), 500*time.Millisecond, 2*harness.Patience, true, func(ctx context.Context) (bool, error) {
		if polls++; polls%8 == 1 {
			c.clock.moved += 30 * time.Second
			c.Must(c.clock.Shift(c.clock.moved))
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"test/poll":"%d"}}}`, polls)
			if err := c.Client.Patch(ctx, ws, client.RawPatch("application/merge-patch+json", patch)); err != nil {
				return false, err
			}
		} else if err := c.Client.Get(ctx, client.ObjectKeyFromObject(ws), ws); err != nil {
			return false, err
		}
		if ws.Status.Operation != nil {
			said = ws.Status.Operation.Progress
		}
		if found := like.FindStringSubmatch(said); found != nil {
			var err error
			number, err = strconv.ParseFloat(found[1], 64)
			return number != last, err
		}
		return false, nil
	})
	if err != nil {
		c.Fatalf("got the progress %q, want %s: %v; the status is %s", said, form, err, harness.Show(ws.Status))
	}
	return number
}

// A home of 12 MiB goes over a slow connection into the archive and comes back. The status shows the progress, which only
// grows, and shows none after the end.
func TestProgress(t *testing.T) {
	c := newCohort(t, 1, store)
	slow := c.slow()
	c.start()
	name := c.names[0]
	for _, s := range life[:archiving] {
		c.runStep(s, c.names, nil)
	}
	volume := func() string {
		ws := c.named(name)
		c.Get(c.Namespace, name, ws)
		return c.HomeOn(ws.Status.Volume.UID)
	}
	noise, content := rand.NewChaCha8([32]byte{}), make([]byte, 1<<20)
	for i := range 12 {
		_, _ = noise.Read(content)
		c.Must(os.WriteFile(filepath.Join(volume(), fmt.Sprint("noise", i)), content, 0o600))
	}
	before := fixtures.Tree(t, volume())

	life[archiving].begin(c, name)
	c.progress(name, `^(12\.0) MiB of about 12\.0 MiB read, \d+ files and folders$`, 0)
	c.turn(slow)
	c.turn(slow)
	c.grows(name, slow, `^all read; \d.* of 12\.0 MiB \((\d+) %\) read back from the store and compared$`)
	c.ends(name, life[archiving])
	life[restoring].begin(c, name)
	c.grows(name, slow, `^\d.* of 12\.0 MiB \((\d+) %\) unpacked, \d+ of \d+ files and folders$`)
	c.ends(name, life[restoring])
	if got := fixtures.TreeDifferences(before, fixtures.Tree(t, volume())); got != "" {
		t.Errorf("the restored home differs:\n%s", got)
	}
}

// grows carries a home, a third at a time, and checks that the progress grows.
func (c *cohort) grows(name string, slow *slowStore, form string) {
	c.Helper()
	share := 0.0
	for range 2 {
		next := c.progress(name, form, share)
		if next < share || next > 70 {
			c.Errorf("%v %% after %v %%", next, share)
		}
		share = next
		c.turn(slow)
	}
}

// ends waits for the end of a step, and checks that no progress is left.
func (c *cohort) ends(name string, s step) {
	c.Helper()
	c.run(s, []string{name})
	ws := c.named(name)
	c.Get(c.Namespace, name, ws)
	if said := ws.Status.Operation.Progress; said != "" {
		c.Errorf("%s: got the progress %q, want none", s.name, said)
	}
	notes, err := filepath.Glob(filepath.Join(store.Folder, "archives", string(ws.UID), "*", "progress.json"))
	if err != nil || len(notes) > 0 {
		c.Errorf("%s: got progress objects in the store: %v, %v", s.name, notes, err)
	}
}
