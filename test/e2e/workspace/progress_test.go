package workspace

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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kyklos.io/kyklos/test/harness"
)

// slowStore is a real store behind a line that carries a third of a home at a time.
type slowStore struct{ turns, over chan struct{} }

// slow puts the crew's store behind such a line.
func (c *crew) slow() *slowStore {
	c.Helper()
	slow := &slowStore{make(chan struct{}), make(chan struct{})}
	upstream, err := url.Parse(store.Endpoint)
	c.must(err)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // it would be a header that nobody signed
	server := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(upstream)
			r.Out.Host = r.In.Host // which is signed
			if r.In.URL.Query().Has("partNumber") {
				r.Out.Body = slow.thirds(r.In.Context(), r.In.Body, r.In.ContentLength)
			}
		},
		Transport: transport,
		ModifyResponse: func(response *http.Response) error {
			asked := response.Request
			parts := asked.URL.Query().Has("uploadId") // the manager asks which there are
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
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "store"}}
	c.must(admin.Patch(c.Context(), secret, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"stringData":{"endpoint":%q}}`, server.URL))))
	return slow
}

// thirds waits for a turn before the second and the last third of a body. Nobody takes a turn whose request has ended.
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

// turn lets the line carry one third more.
func (c *crew) turn(slow *slowStore) {
	c.Helper()
	select {
	case slow.turns <- struct{}{}:
	case <-time.After(patience):
		c.Fatal("nobody waits for the store")
	}
}

// progress waits until the status says something of this form, with another number in it than the last, which
// it returns. Every few looks, half
// a minute goes by for the manager, which asks no earlier.
func (c *crew) progress(name, form string, last float64) (number float64) {
	c.Helper()
	ws, like := c.named(name), regexp.MustCompile(form)
	said, looks := "", 0
	err := wait.PollUntilContextTimeout(c.Context(), 500*time.Millisecond, 2*patience, true, func(ctx context.Context) (bool, error) {
		if looks++; looks%8 == 1 {
			c.clock.moved += 30 * time.Second
			c.must(c.clock.Shift(c.clock.moved))
		}
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"test/look":"%d"}}}`, looks)
		if err := admin.Patch(ctx, ws, client.RawPatch("application/merge-patch+json", patch)); err != nil {
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
		c.Fatalf("the status says %q, want %s: %v; it is %s", said, form, err, harness.Show(ws.Status))
	}
	return number
}

// A home of real bytes goes over a slow line into the archive and comes back. All the while the status says
// how far it is, which only grows, and nothing any more when it is there.
func TestProgress(t *testing.T) {
	c := newCrew(t, 1, store)
	slow := c.slow()
	c.start()
	name := c.names[0]
	for _, s := range life[:archiving] {
		c.through(s, c.names, nil)
	}
	volume := func() string {
		ws := c.named(name)
		c.must(admin.Get(t.Context(), client.ObjectKeyFromObject(ws), ws))
		return filepath.Join(cluster.VolumeFolder(types.UID(ws.Status.Volume.UID)), "home")
	}
	noise, content := rand.NewChaCha8([32]byte{}), make([]byte, 1<<20)
	for i := range 12 {
		_, _ = noise.Read(content)
		c.must(os.WriteFile(filepath.Join(volume(), fmt.Sprint("noise", i)), content, 0o600))
	}
	before := tree(t, volume())

	life[archiving].begin(c, name)
	c.progress(name, `^(12\.0) MiB of about 12\.0 MiB read, \d+ files and folders$`, 0)
	c.turn(slow)
	c.turn(slow)
	c.grows(name, slow, `^all is read; \d.* of 12\.0 MiB \((\d+) %\) read back from the store and compared$`)
	c.ends(name, life[archiving])
	life[restoring].begin(c, name)
	c.grows(name, slow, `^\d.* of 12\.0 MiB \((\d+) %\) unpacked, \d+ of \d+ files and folders$`)
	c.ends(name, life[restoring])
	if got := differences(before, tree(t, volume())); got != "" {
		t.Errorf("the home came back changed:\n%s", got)
	}
}

// grows lets a home through, a third at a time.
func (c *crew) grows(name string, slow *slowStore, form string) {
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

// ends waits for the end of a step, and checks that nothing of the progress is left.
func (c *crew) ends(name string, s step) {
	c.Helper()
	c.walk(s, []string{name})
	ws := c.named(name)
	c.must(admin.Get(c.Context(), client.ObjectKeyFromObject(ws), ws))
	if said := ws.Status.Operation.Progress; said != "" {
		c.Errorf("%s: it still says %q", s.name, said)
	}
	notes, err := filepath.Glob(filepath.Join(store.Folder, "archives", string(ws.UID), "*", "progress.json"))
	if err != nil || len(notes) > 0 {
		c.Errorf("%s: left in the store: %v, %v", s.name, notes, err)
	}
}
