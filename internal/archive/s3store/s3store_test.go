package s3store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/endpoints"
	"kyklos.io/kyklos/internal/archive/storetest"
	"kyklos.io/kyklos/test/harness"
)

// server is a real S3 server with one bucket.
func server(t *testing.T) *harness.ObjectStore {
	t.Helper()
	var log bytes.Buffer
	store, err := harness.StartObjectStore(t.Context(), t.TempDir(), &log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return store
}

func configOf(s *harness.ObjectStore) Config {
	return Config{Endpoint: s.Endpoint, Bucket: s.Bucket, Prefix: "team/cluster-1", AccessKeyID: s.AccessKeyID, SecretAccessKey: s.SecretAccessKey, Allowed: endpoints.Local}
}

func open(t *testing.T, config Config) *Store {
	t.Helper()
	store, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	store.partSize = 5 << 20 // S3's least
	return store
}

func TestContract(t *testing.T) {
	running := server(t)
	for _, checksums := range []bool{false, true} {
		config := configOf(running)
		config.Checksums = checksums
		config.Prefix = map[bool]string{false: "plain", true: "with/checksums/"}[checksums]
		store := open(t, config)
		storetest.Contract(t, store, 5<<20+10)
		begun, err := store.AbortUploads(t.Context(), "", time.Now().Add(time.Hour))
		if err != nil || begun > 0 {
			t.Errorf("%d uploads were left behind, %v", begun, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(running.Folder, "plain")); err != nil || len(entries) == 0 {
		t.Errorf("nothing is below the prefix: %v", err)
	}
}

func TestWhatCannotBeReached(t *testing.T) {
	running := server(t)
	edit := func(change func(*Config)) Config {
		config := configOf(running)
		change(&config)
		return config
	}
	for name, test := range map[string]struct {
		config Config
		want   error
		says   string
	}{
		"no such bucket":     {edit(func(c *Config) { c.Bucket = "other" }), archive.ErrBucketMissing, "does not exist: NoSuchBucket: The specified bucket does not exist (request "},
		"a wrong secret":     {edit(func(c *Config) { c.SecretAccessKey = "guess" }), archive.ErrDenied, "refuses access: SignatureDoesNotMatch: The request signature we calculated"},
		"connection refused": {edit(func(c *Config) { c.Endpoint = "http://127.0.0.1:1" }), archive.ErrUnreachable, "cannot be reached: dial tcp 127.0.0.1:1: connect: connection refused"},
		"no such host":       {edit(func(c *Config) { c.Endpoint = "http://nowhere.invalid" }), archive.ErrUnreachable, "cannot be reached: dial tcp: lookup nowhere.invalid"},
		"not spoken in TLS":  {edit(func(c *Config) { c.Endpoint = "https" + c.Endpoint[len("http"):] }), archive.ErrUnreachable, "cannot be reached: http: server gave HTTP response to HTTPS client"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := open(t, test.config)
			store.client = s3.New(store.client.Options(), withoutDelay)
			_, head := store.Head(t.Context(), "a")
			var list error
			for _, err := range store.List(t.Context(), "") {
				list = err
			}
			for what, err := range map[string]error{"HeadBucket": store.HeadBucket(t.Context()), "Head": head, "List": list, "Put": store.Put(t.Context(), "a", nil)} {
				if !errors.Is(err, test.want) || archive.Lost(err, nil) {
					t.Errorf("%s: %v, want %v", what, err, test.want)
				}
				if text := err.Error(); !strings.Contains(text, test.says) && what != "HeadBucket" && what != "Head" || strings.Contains(text, "HostID") {
					t.Errorf("%s says %q, want %q in it", what, text, test.says) // the answer to a HEAD has no body
				}
			}
		})
	}
}

// versitygw answers 404 where S3 answers 403. Neither is a lost archive.
func TestAnUnknownUserLosesNothing(t *testing.T) {
	config := configOf(server(t))
	config.AccessKeyID = "stranger"
	store := open(t, config)
	_, head := store.Head(t.Context(), "a")
	_, _, get := store.Get(t.Context(), "a")
	for what, err := range map[string]error{"HeadBucket": store.HeadBucket(t.Context()), "Head": head, "Get": get} {
		if err == nil || archive.Lost(err, nil) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestConfigs(t *testing.T) {
	good := Config{Endpoint: "https://s3.example.com", Bucket: "homes", AccessKeyID: "a", SecretAccessKey: "b"}
	if got, err := good.complete(); err != nil || got.Region != "us-east-1" || got.Prefix != "" {
		t.Errorf("%+v, %v", got, err)
	}
	for name, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no endpoint":    {func(c *Config) { c.Endpoint = "" }, `endpoint: must be a URL of a host, such as https://s3.example.com`},
		"no scheme":      {func(c *Config) { c.Endpoint = "s3.example.com" }, `endpoint: must be a URL of a host, such as https://s3.example.com`},
		"with a path":    {func(c *Config) { c.Endpoint += "/homes" }, `endpoint: must be a URL of a host, such as https://s3.example.com`},
		"no bucket":      {func(c *Config) { c.Bucket = "" }, `bucket: must have 3 to 63 lowercase letters, digits, dots and hyphens`},
		"short bucket":   {func(c *Config) { c.Bucket = "ab" }, `bucket: must have 3 to 63 lowercase letters, digits, dots and hyphens`},
		"bucket as path": {func(c *Config) { c.Bucket = "a/../b" }, `bucket: must have 3 to 63 lowercase letters, digits, dots and hyphens`},
		"prefix out":     {func(c *Config) { c.Prefix = "../x" }, `prefix: must be folders of letters, digits, dots, underscores and hyphens, such as team/cluster-1`},
		"a fragment":     {func(c *Config) { c.Endpoint += "/#a" }, `endpoint: must be a URL of a host, such as https://s3.example.com`},
		"long prefix":    {func(c *Config) { c.Prefix = strings.Repeat("a", 901) }, "prefix: must have at most 900 characters"},
		"long token":     {func(c *Config) { c.SessionToken = strings.Repeat("a", 1<<20) }, "sessionToken: must have at most 16384 characters"},
		"no secret":      {func(c *Config) { c.SecretAccessKey = "" }, "accessKeyID and secretAccessKey are both required, or roleARN"},
		"no certificate": {func(c *Config) { c.CA = []byte("x") }, "ca.crt: no PEM certificate found"},
	} {
		config := good
		test.change(&config)
		if _, err := New(config); err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
}

func TestOnlyOldUploadsAreEnded(t *testing.T) {
	store := open(t, configOf(server(t)))
	if _, err := store.startUpload(t.Context(), "archives/a"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		before time.Time
		want   int
	}{{time.Now().Add(-time.Hour), 0}, {time.Now().Add(time.Hour), 1}, {time.Now().Add(time.Hour), 0}} {
		if got, err := store.AbortUploads(t.Context(), "archives/", step.before); got != step.want || err != nil {
			t.Errorf("before %v: %d, %v, want %d", step.before, got, err, step.want)
		}
	}
}

// D4: tampering with the stored files is detected through the store.
func TestDamageIsSeen(t *testing.T) {
	running := server(t)
	store := open(t, configOf(running))
	if err := store.Put(t.Context(), "archives/a", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(running.Folder, "team", "cluster-1", "archives", "a")
	if err := os.Truncate(path, 3); err != nil {
		t.Fatal(err)
	}
	body, object, err := store.Get(t.Context(), "archives/a")
	if err != nil || object.Size != 3 {
		t.Fatalf("%+v, %v, want 3 bytes", object, err)
	}
	defer body.Close()
	if got, err := io.ReadAll(body); string(got) != "hel" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Head(t.Context(), "archives/a"); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("%v, want ErrNotFound", err)
	}
}
