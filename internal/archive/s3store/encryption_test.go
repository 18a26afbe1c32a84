package s3store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/test/harness"
)

// recorder is a proxy in front of a real S3 server. It keeps what each request said about encryption, and can confirm it in the
// server's name: versitygw stores plain files, and says nothing.
type recorder struct {
	url      string
	confirms bool
	lock     sync.Mutex
	said     map[string]string
}

func record(t *testing.T, server *harness.ObjectStore, confirms bool) *recorder {
	t.Helper()
	target, err := url.Parse(server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{confirms: confirms, said: map[string]string{}}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target); p.Out.Host = p.In.Host }, // it is signed
		ModifyResponse: func(answer *http.Response) error {
			if asked := answer.Request.Header.Get(headerSSE); r.confirms && asked != "" {
				answer.Header.Set(headerSSE, asked)
			}
			return nil
		},
	}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		r.note(request)
		proxy.ServeHTTP(w, request)
	}))
	t.Cleanup(front.Close)
	r.url = front.URL
	return r
}

func (r *recorder) note(request *http.Request) {
	r.lock.Lock()
	defer r.lock.Unlock()
	what := request.Method
	for _, part := range []string{"uploads", "partNumber", "uploadId"} {
		if request.URL.Query().Has(part) {
			what += " " + part
			break
		}
	}
	what += " " + request.URL.Path[strings.LastIndex(request.URL.Path, "/")+1:]
	said := strings.TrimSpace(request.Header.Get(headerSSE) + " " + request.Header.Get(headerKeyID))
	if before, known := r.said[what]; known && before != said {
		said += " and " + before
	}
	r.said[what] = said
}

func (r *recorder) config(server *harness.ObjectStore) Config {
	config := configOf(server)
	config.Endpoint = r.url
	return config
}

// W91: every request that creates an object asks for encryption: data, marker and notes of a mover, and what the manager writes. The
// parts of an upload are as the upload is.
func TestServerSideEncryptionIsAskedForEverywhere(t *testing.T) {
	for name, test := range map[string]struct{ algorithm, keyID, want string }{
		"none":              {"", "", ""},
		"the store's keys":  {SSES3, "", "AES256"},
		"the account's key": {SSEKMS, "", "aws:kms"},
		"a key":             {SSEKMS, "arn:aws:kms:eu-central-1:123456789012:key/0b7e9d0e", "aws:kms arn:aws:kms:eu-central-1:123456789012:key/0b7e9d0e"},
	} {
		t.Run(name, func(t *testing.T) {
			running := server(t)
			asked := record(t, running, true)
			config := asked.config(running)
			config.ServerSideEncryption, config.KMSKeyID = test.algorithm, test.keyID
			store := open(t, config)
			ticket := issue(t, store, 100<<20)
			mover := holder(t, ticket)
			if err := errors.Join(
				mover.PutStream(t.Context(), key.Data(), bytes.NewReader(make([]byte, 6<<20))),
				mover.Put(t.Context(), key.Marker(), []byte("marker")),
				mover.WriteNote(t.Context(), archive.Progress{}.Note()),
				archive.Keep(t.Context(), store, archive.Key{UID: key.OpID, OpID: key.UID}, "team", "ann"),
				store.PutStream(t.Context(), "archives/streamed", bytes.NewReader(make([]byte, 6<<20))),
			); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{
				"POST uploads home.tar.gz": test.want, "PUT partNumber home.tar.gz": "", "POST uploadId home.tar.gz": "",
				"PUT home.tar.gz.meta": test.want, "PUT progress.json": test.want, "PUT kept": test.want, "PUT " + key.UID: test.want,
				"POST uploads streamed": test.want, "PUT partNumber streamed": "", "POST uploadId streamed": "",
			}
			if diff := cmp.Diff(want, asked.said); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A ticket's URL does not store anything unless it is encrypted as signed.
func TestATicketKeepsToTheEncryption(t *testing.T) {
	running := server(t)
	config := record(t, running, true).config(running)
	config.ServerSideEncryption = SSES3
	ticket := issue(t, open(t, config), 1<<20)
	for _, headers := range []map[string]string{nil, {headerSSE: SSEKMS}} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, ticket.PutMarker, strings.NewReader("marker"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("If-None-Match", "*")
		for header, value := range headers {
			request.Header.Set(header, value)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusForbidden {
			t.Errorf("%v: %s", headers, answer.Status)
		}
	}
}

// A store that does not confirm the encryption gets no home. The real server of the tests is one of these.
func TestAStoreThatDoesNotEncrypt(t *testing.T) {
	running := server(t)
	for _, config := range []Config{configOf(running), record(t, running, false).config(running)} {
		config.ServerSideEncryption = SSES3
		store := open(t, config)
		_, err := store.Issue(t.Context(), archive.Order{Key: key, MaxBytes: 1 << 20, Now: time.Now(), Valid: time.Hour})
		if !errors.Is(err, archive.ErrNotEncrypted) || !strings.Contains(err.Error(), "serverSideEncryption: ") || !strings.Contains(err.Error(), "asked for AES256, it answered nothing about encryption") {
			t.Error(err)
		}
		if _, err := store.Issue(t.Context(), archive.Order{Key: key, Now: time.Now(), Valid: time.Hour}); err != nil {
			t.Errorf("a restore: %v", err)
		}
		if left, err := store.AbortUploads(t.Context(), "", time.Now().Add(time.Hour)); left > 0 || err != nil {
			t.Errorf("%d uploads are left, %v", left, err)
		}
	}
}

func TestInvalidEncryption(t *testing.T) {
	cases := map[string]struct{ algorithm, keyID, want string }{
		"a word":       {"yes", "", `serverSideEncryption: must be AES256 or aws:kms`},
		"in lowercase": {"aes256", "", `serverSideEncryption: must be AES256 or aws:kms`},
		"a key alone":  {"", "alias/homes", "kmsKeyID: requires serverSideEncryption: aws:kms"},
		"a key of S3":  {SSES3, "alias/homes", "kmsKeyID: requires serverSideEncryption: aws:kms"},
		"no key":       {SSEKMS, "my key\n", `kmsKeyID: must be the ID, the alias or the ARN of a key, such as alias/homes`},
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		test := cases[name]
		_, err := New(Config{
			Endpoint: "https://s3.example.com", Bucket: "homes", AccessKeyID: "a", SecretAccessKey: "b", ServerSideEncryption: test.algorithm, KMSKeyID: test.keyID,
		})
		if fmt.Sprint(err) != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}
