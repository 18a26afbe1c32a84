package encryption

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"filippo.io/age"
	"pgregory.net/rapid"
)

func newKey(t testing.TB) *age.X25519Identity {
	t.Helper()
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func identitiesOf(t testing.TB, keys ...*age.X25519Identity) Identities {
	t.Helper()
	text := "# created by age-keygen\n\n"
	for _, key := range keys {
		text += key.String() + "\n"
	}
	found, err := ParseIdentities(text)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func recipientsOf(keys ...*age.X25519Identity) (all []string) {
	for _, key := range keys {
		all = append(all, key.Recipient().String())
	}
	return all
}

func encrypted(t testing.TB, content []byte, recipients []string) []byte {
	t.Helper()
	var file bytes.Buffer
	to, err := Write(&file, recipients)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Write(content); errors.Join(err, to.Close()) != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func read(file io.Reader, identities Identities) (content []byte, fingerprints []string, err error) {
	open, fingerprints, err := Open(file, identities)
	if err == nil {
		content, err = io.ReadAll(open)
	}
	return content, fingerprints, err
}

// W92: what was encrypted is read by each of the recipients and by nobody else, and says for whom it is; other data are as they are. The
// file is one of age's.
func TestThereAndBack(t *testing.T) {
	keys := []*age.X25519Identity{newKey(t), newKey(t), newKey(t), newKey(t)}
	rapid.Check(t, func(rt *rapid.T) {
		content := bytes.Repeat([]byte(rapid.StringN(0, 40, -1).Draw(rt, "content")), rapid.IntRange(1, 9000).Draw(rt, "times"))
		if got, found, err := read(bytes.NewReader(content), Identities{}); err != nil || found != nil || !bytes.Equal(got, content) {
			rt.Fatalf("plain: %d of %d bytes, %v, %v", len(got), len(content), found, err)
		}
		readers := rapid.SliceOfNDistinct(rapid.IntRange(0, 3), 1, 4, rapid.ID).Draw(rt, "recipients")
		var recipients []string
		for _, i := range readers {
			recipients = append(recipients, recipientsOf(keys[i])...)
		}
		file := encrypted(t, content, recipients)
		for i, key := range keys {
			got, found, err := read(bytes.NewReader(file), identitiesOf(t, key))
			if !slices.Contains(readers, i) {
				if !errors.Is(err, ErrNoIdentity) || len(got) > 0 {
					rt.Fatalf("a stranger: %d bytes, %v", len(got), err)
				}
				continue
			}
			if err != nil || !bytes.Equal(got, content) || !slices.Equal(found, Fingerprints(recipients)) {
				rt.Fatalf("%d of %d bytes for %v, %v", len(got), len(content), found, err)
			}
			itself, err := age.Decrypt(bytes.NewReader(file), key)
			if err != nil {
				rt.Fatal(err)
			}
			if got, err := io.ReadAll(itself); err != nil || !bytes.Equal(got, content) {
				rt.Fatalf("age itself: %d bytes, %v", len(got), err)
			}
		}
	})
}

// Any changed, missing or added byte is noticed, and never taken for a missing identity.
func TestDamage(t *testing.T) {
	key := newKey(t)
	content := bytes.Repeat([]byte("0123456789"), 20_000) // four chunks
	file := encrypted(t, content, recipientsOf(key))
	identities := identitiesOf(t, key)
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.IntRange(len(intro), len(file)-1).Draw(rt, "at")
		damaged := slices.Clone(file)
		switch rapid.IntRange(0, 2).Draw(rt, "damage") {
		case 0:
			damaged[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "by"))
		case 1:
			damaged = damaged[:at]
		default:
			damaged = append(damaged, 0)
		}
		if _, _, err := read(bytes.NewReader(damaged), identities); err == nil {
			rt.Fatalf("damage at %d of %d was not noticed", at, len(file))
		}
	})
}

// What interrupts a stream is still known afterwards.
func TestAnInterruptedStream(t *testing.T) {
	key, interrupted := newKey(t), errors.New("interrupted")
	file := encrypted(t, make([]byte, 200_000), recipientsOf(key))
	for _, at := range []int{0, 5, len(intro), 60, 400, 70_000, len(file)} {
		_, _, err := read(io.MultiReader(bytes.NewReader(file[:at]), iotest.ErrReader(interrupted)), identitiesOf(t, key))
		if !errors.Is(err, interrupted) {
			t.Errorf("after %d bytes: %v", at, err)
		}
	}
}

func TestMistakesInKeys(t *testing.T) {
	key := newKey(t)
	public, secret := key.Recipient().String(), key.String()
	for text, want := range map[string]string{
		"":                                 "must have a public key of age-keygen in a line, which begins with age1",
		"# none\n":                         "must have a public key of age-keygen in a line, which begins with age1",
		public + "\nage1x":                 "line 2 must be a public key of age-keygen, which begins with age1",
		public + ", " + public:             "line 1 must be a public key of age-keygen, which begins with age1",
		"ssh-ed25519 AAAA":                 "line 1 must be a public key of age-keygen, which begins with age1",
		secret:                             "line 1 is a secret key; it belongs into ageIdentity",
		strings.Join(many(t, 17), "\n"):    "must have at most 16 keys",
		public + "\n\n" + secret + "\nx\n": "line 3 is a secret key; it belongs into ageIdentity",
	} {
		if got, err := ParseRecipients(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v, want %s", text, got, err, want)
		}
	}
	if got, err := ParseRecipients("# ann\n" + public + "\n \n" + public); err != nil || !slices.Equal(got, []string{public}) {
		t.Errorf("%v, %v", got, err)
	}
	for text, want := range map[string]string{
		public:           "line 1 must be a secret key of age-keygen, which begins with AGE-SECRET-KEY-1",
		secret + "\nX\n": "line 2 must be a secret key of age-keygen, which begins with AGE-SECRET-KEY-1",
		secret[:70]:      "line 1 must be a secret key of age-keygen, which begins with AGE-SECRET-KEY-1",
	} {
		if _, err := ParseIdentities(text); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func many(t *testing.T, n int) (all []string) {
	t.Helper()
	for range n {
		all = append(all, recipientsOf(newKey(t))...)
	}
	return all
}

// No way of printing them shows a secret key, and neither does an error.
func TestIdentitiesAreNotPrinted(t *testing.T) {
	key := newKey(t)
	identities := identitiesOf(t, key)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, what := range []any{identities, &identities, struct{ Keys Identities }{identities}} {
			if text := fmt.Sprintf(verb, what); strings.Contains(strings.ToUpper(text), key.String()[16:]) || len(text) > 80 {
				t.Errorf("%s of %T: %s", verb, what, text)
			}
		}
	}
	if err := identities.Fit([]string{Fingerprint("another")}); !errors.Is(err, ErrNoIdentity) ||
		!strings.Contains(err.Error(), "it is for "+Fingerprint("another")+"; the identities are for "+Fingerprint(key.Recipient().String())) {
		t.Error(err)
	}
	if err := (Identities{}).Fit(nil); !strings.Contains(err.Error(), "it is for an unknown recipient; there is no identity") {
		t.Error(err)
	}
}
