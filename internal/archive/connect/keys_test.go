package connect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"filippo.io/age"
)

// W93: who encrypts has to be able to decrypt. The identity itself is not looked at here.
func TestRecipients(t *testing.T) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	public := key.Recipient().String()
	for name, test := range map[string]struct {
		secret map[string][]byte
		want   []string
		err    string
	}{
		"none":             {secret("bucket", "homes"), nil, "<nil>"},
		"to restore":       {secret("ageIdentity", key.String(), "ageRecipients", "\n"), nil, "<nil>"},
		"both":             {secret("ageIdentity", "not looked at", "ageRecipients", "# ann\n"+public+"\n"), []string{public}, "<nil>"},
		"without identity": {secret("ageRecipients", public), nil, "ageIdentity: is missing: an archive is read back before its volume is deleted, so ageRecipients needs the identity of one of the recipients"},
		"exchanged":        {secret("ageRecipients", key.String(), "ageIdentity", public), nil, "ageRecipients: line 1 is a secret key; it belongs into ageIdentity"},
	} {
		got, err := Recipients(test.secret)
		if !slices.Equal(got, test.want) || fmt.Sprint(err) != test.err {
			t.Errorf("%s: %v, %v, want %s", name, got, err, test.err)
		}
	}
}

// A token is requested in the namespace of the Secret, whatever the Secret says.
func TestTokensAreOfTheSecretsNamespace(t *testing.T) {
	var asked []string
	store, err := Open(secret("endpoint", "https://s3.example.com", "bucket", "homes", "roleARN", "arn:aws:iam::1:role/r", "serviceAccount", "homes"), Options{
		Namespace: "team", Now: time.Now, Tokens: func(_ context.Context, namespace, account string) (string, error) {
			asked = append(asked, namespace+"/"+account)
			return "", errors.New("none")
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.HeadBucket(t.Context()); err == nil || !slices.Equal(asked, []string{"team/homes"}) {
		t.Errorf("%v, asked for %v", err, asked)
	}
}
