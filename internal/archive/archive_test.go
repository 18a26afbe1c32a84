package archive_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"kyklos.io/kyklos/internal/archive"
	"kyklos.io/kyklos/internal/archive/filestore"
)

const (
	uid  = "0b7e9d0e-6f0c-4a53-9a2b-0d6c8c0f6b11"
	opID = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
)

var key = archive.Key{UID: uid, OpID: opID}

func TestKeysPrintAndParse(t *testing.T) {
	const data = "archives/" + uid + "/" + opID + "/home.tar.gz"
	for name, marker := range map[string]bool{data: false, data + ".meta": true} {
		got, isMarker, err := archive.ParseObject(name)
		if err != nil || got != key || isMarker != marker {
			t.Errorf("%s: %v, %v, %v", name, got, isMarker, err)
		}
	}
	if key.Data() != data || key.Marker() != data+".meta" || key.String() != data || !strings.HasPrefix(data, key.Folder()) {
		t.Errorf("%s, %s, %s", key.Data(), key.Marker(), key.Folder())
	}
}

func TestNothingElseIsAKey(t *testing.T) {
	for _, name := range []string{
		"", "archives/", "/archives/" + uid + "/" + opID + "/home.tar.gz", "archives/" + uid + "/home.tar.gz",
		"archives/" + uid + "/" + opID, "archives/" + uid + "/" + opID + "/", "archives/" + uid + "/" + opID + "/home.tar",
		"archives/" + uid + "/" + opID + "/home.tar.gz/", "archives/" + uid + "/" + opID + "/x/home.tar.gz",
		"archives/../" + opID + "/home.tar.gz", "archives/" + uid + "//home.tar.gz",
		"archives/" + strings.ToUpper(uid) + "/" + opID + "/home.tar.gz", "archives/{" + uid + "}/" + opID + "/home.tar.gz",
		"archives/urn:uuid:" + uid + "/" + opID + "/home.tar.gz", "archives/" + strings.ReplaceAll(uid, "-", "") + "/" + opID + "/home.tar.gz",
		"archives/" + uid + "/" + opID + "/home.tar.gz.meta",
	} {
		if got, err := archive.ParseKey(name); err == nil {
			t.Errorf("%q became %v", name, got)
		}
	}
	if _, _, err := archive.ParseObject(key.Marker() + ".meta"); err == nil {
		t.Error("a marker's marker became a key")
	}
}

func FuzzParseKey(f *testing.F) {
	f.Add(key.Data())
	f.Fuzz(func(t *testing.T, name string) {
		if got, err := archive.ParseKey(name); err == nil && got.Data() != name {
			t.Errorf("%q became %q", name, got.Data())
		}
	})
}

func sample() archive.Marker {
	return archive.Marker{
		SHA256: strings.Repeat("0a", 32), Key: key.Data(), Size: 5, Tree: strings.Repeat("ff", 32), Entries: 1, Bytes: 0,
		VolumeUID: "v", Epoch: 3, Workspace: "team/ann", Mover: "v1.2.3",
	}
}

func TestMarkersPrintAndParse(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := sample()
		want.Size = rapid.Int64Min(1).Draw(r, "size")
		want.Entries = rapid.Int64Min(1).Draw(r, "entries")
		want.Bytes = rapid.Int64Min(0).Draw(r, "bytes")
		want.Epoch = rapid.Int64Min(0).Draw(r, "epoch")
		want.Workspace = rapid.StringMatching(`[a-z]{0,9}/[a-zü"\n]{0,9}`).Draw(r, "workspace")
		got, err := archive.ParseMarker([]byte(want.String()))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			r.Errorf("%v, -want +got:\n%s", err, diff)
		}
	})
	if line, _, _ := strings.Cut(sample().String(), "\n"); line != "sha256:"+strings.Repeat("0a", 32) {
		t.Errorf("the first line is %q, not the sum", line)
	}
}

func TestDamagedMarkersAreRefused(t *testing.T) {
	good := sample().String()
	for name, text := range map[string]string{
		"empty":           "",
		"sum only":        strings.SplitAfter(good, "\n")[0],
		"sum, unended":    "sha256:" + strings.Repeat("0a", 32),
		"no sha256":       strings.Replace(good, "sha256:", "md5:", 1),
		"short sum":       strings.Replace(good, "0a", "", 1),
		"large letters":   strings.Replace(good, "0a", "0A", 1),
		"not hexadecimal": strings.Replace(good, "0a", "0x", 1),
		"cut":             good[:len(good)-3],
		"twice":           good + good,
		"something after": good + "{}",
		"size":            strings.Replace(good, `"size":5`, `"size":0`, 1),
		"size as text":    strings.Replace(good, `"size":5`, `"size":"5"`, 1),
		"tree":            strings.Replace(good, `"tree":"ff`, `"tree":"f`, 1),
		"entries":         strings.Replace(good, `"entries":1`, `"entries":0`, 1),
		"bytes":           strings.Replace(good, `"bytes":0`, `"bytes":-1`, 1),
		"epoch":           strings.Replace(good, `"epoch":3`, `"epoch":-3`, 1),
		"volume":          strings.Replace(good, `"volumeUID":"v"`, `"volumeUID":""`, 1),
		"key":             strings.Replace(good, "home.tar.gz", "../x", 1),
		"long":            good + strings.Repeat(" ", archive.MaxMarkerBytes),
	} {
		if got, err := archive.ParseMarker([]byte(text)); !errors.Is(err, archive.ErrCorrupt) {
			t.Errorf("%s: %+v, %v, want ErrCorrupt", name, got, err)
		}
	}
	later := strings.Replace(good, `{"key"`, `{"later":true,"key"`, 1)
	if _, err := archive.ParseMarker([]byte(later)); err != nil {
		t.Errorf("a later version's field: %v", err)
	}
}

func FuzzParseMarker(f *testing.F) {
	f.Add([]byte(sample().String()))
	f.Fuzz(func(t *testing.T, text []byte) {
		marker, err := archive.ParseMarker(text)
		if err != nil {
			return
		}
		again, err := archive.ParseMarker([]byte(marker.String()))
		if diff := cmp.Diff(marker, again); err != nil || diff != "" {
			t.Errorf("%v, -first +second:\n%s", err, diff)
		}
	})
}

func TestCommitted(t *testing.T) {
	other := archive.Key{UID: opID, OpID: uid}
	foreign := sample()
	foreign.Key = other.Data()
	sum := sample().SHA256
	for name, test := range map[string]struct {
		data, marker string
		want         archive.Want
		err          error
	}{
		"committed":           {"12345", sample().String(), archive.Want{VolumeUID: "v", Epoch: 3, SHA256: sum}, nil},
		"any":                 {"12345", sample().String(), archive.Want{}, nil},
		"nothing":             {"", "", archive.Want{}, archive.ErrNotFound},
		"data only":           {"12345", "", archive.Want{}, archive.ErrNotFound},
		"marker only":         {"", sample().String(), archive.Want{}, archive.ErrNotFound},
		"cut":                 {"1234", sample().String(), archive.Want{}, archive.ErrCorrupt},
		"longer":              {"123456", sample().String(), archive.Want{}, archive.ErrCorrupt},
		"another's marker":    {"12345", foreign.String(), archive.Want{}, archive.ErrCorrupt},
		"no marker":           {"12345", "x", archive.Want{}, archive.ErrCorrupt},
		"an earlier epoch":    {"12345", sample().String(), archive.Want{VolumeUID: "v", Epoch: 4}, archive.ErrCorrupt},
		"another volume":      {"12345", sample().String(), archive.Want{VolumeUID: "w", Epoch: 3}, archive.ErrCorrupt},
		"another sum":         {"12345", sample().String(), archive.Want{SHA256: strings.Repeat("0b", 32)}, archive.ErrCorrupt},
		"an oversized marker": {"12345", strings.Repeat(" ", archive.MaxMarkerBytes+9), archive.Want{}, archive.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			store := filestore.New(t.TempDir())
			for name, content := range map[string]string{key.Data(): test.data, key.Marker(): test.marker} {
				if content != "" {
					if err := store.Put(t.Context(), name, []byte(content)); err != nil {
						t.Fatal(err)
					}
				}
			}
			marker, err := archive.Committed(t.Context(), store, key, test.want)
			if !errors.Is(err, test.err) || err == nil && marker != sample() {
				t.Errorf("%+v, %v, want %v", marker, err, test.err)
			}
			if lost := archive.Lost(err, store.HeadBucket(t.Context())); lost != (test.err != nil) {
				t.Errorf("lost is %v for %v", lost, err)
			}
			if err := errors.Join(archive.Discard(t.Context(), store, key), archive.Discard(t.Context(), store, key)); err != nil {
				t.Error(err)
			}
			for object := range store.List(t.Context(), "") {
				t.Errorf("%s is left", object.Name)
			}
		})
	}
}

// A missing bucket does not prove that its archives are lost (D23).
func TestAMissingBucketIsNotALoss(t *testing.T) {
	store := filestore.New(t.TempDir() + "/gone")
	_, err := archive.Committed(t.Context(), store, key, archive.Want{})
	if !errors.Is(err, archive.ErrBucketMissing) || archive.Lost(err, store.HeadBucket(t.Context())) {
		t.Errorf("got %v, want ErrBucketMissing and nothing lost", err)
	}
	if archive.Lost(archive.ErrNotFound, archive.ErrUnreachable) {
		t.Error("lost, though the bucket does not answer")
	}
}

func TestOnlyIsConfined(t *testing.T) {
	store := filestore.New(t.TempDir())
	confined := archive.Only(store, key)
	for _, name := range []string{"archives/" + opID + "/" + uid + "/home.tar.gz", key.Folder() + "x", ""} {
		_, head := confined.Head(t.Context(), name)
		_, _, get := confined.Get(t.Context(), name)
		put, stream := confined.Put(t.Context(), name, nil), confined.PutStream(t.Context(), name, strings.NewReader(""))
		for _, err := range []error{head, get, put, stream} {
			if !errors.Is(err, archive.ErrDenied) {
				t.Errorf("%q: %v, want ErrDenied", name, err)
			}
		}
	}
	if err := errors.Join(confined.Put(t.Context(), key.Marker(), []byte("x")), confined.PutStream(t.Context(), key.Data(), strings.NewReader("x"))); err != nil {
		t.Error(err)
	}
}

func TestAnswersOfStores(t *testing.T) {
	for _, test := range []struct {
		status int
		code   string
		want   error
	}{
		{404, "", archive.ErrUnreachable}, {404, "NotFound", archive.ErrNotFound}, {404, "NoSuchKey", archive.ErrNotFound},
		{404, "NoSuchBucket", archive.ErrBucketMissing}, {404, "NoSuchUpload", archive.ErrUnreachable}, {404, "NoSuchUser", archive.ErrUnreachable},
		{412, "", archive.ErrExists}, {412, "PreconditionFailed", archive.ErrExists}, {409, "ConditionalRequestConflict", archive.ErrExists},
		{200, "PreconditionFailed", archive.ErrExists}, {200, "InternalError", archive.ErrUnreachable},
		{403, "AccessDenied", archive.ErrDenied}, {403, "RequestTimeTooSkewed", archive.ErrDenied}, {401, "", archive.ErrDenied},
		{0, "", archive.ErrUnreachable}, {301, "PermanentRedirect", archive.ErrUnreachable}, {400, "BadDigest", archive.ErrUnreachable},
		{429, "", archive.ErrUnreachable}, {500, "", archive.ErrUnreachable}, {503, "SlowDown", archive.ErrUnreachable},
	} {
		if got := archive.FromStatus(test.status, test.code); !errors.Is(got, test.want) {
			t.Errorf("%d %s: %v, want %v", test.status, test.code, got, test.want)
		}
	}
}

// What a marker says is left out may be anything, and goes into a status.
func TestWhatIsLeftOutIsShownSafely(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		`1 pipe ("ünï": pipe)`:      `1 pipe ("ünï": pipe)`,
		"a\nb\x00\xff\u2028\u202ec": "a?b????c",
		strings.Repeat("é", 600):    strings.Repeat("é", archive.MaxLeftOut),
	} {
		if got := (archive.Marker{LeftOut: text}).ShownLeftOut(); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}
