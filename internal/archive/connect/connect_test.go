package connect

import (
	"context"
	"errors"
	"testing"

	"kyklos.io/kyklos/internal/archive/filestore"
	"kyklos.io/kyklos/internal/archive/s3store"
)

func secret(pairs ...string) map[string][]byte {
	data := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		data[pairs[i]] = []byte(pairs[i+1])
	}
	return data
}

func TestOpen(t *testing.T) {
	s3 := secret("endpoint", "https://s3.example.com\n", "bucket", "homes", "accessKeyID", "a", "secretAccessKey", "b\n", "virtualHost", "true", "checksums", "false")
	if store, err := Open(s3, Options{}); err != nil {
		t.Error(err)
	} else if _, ok := store.(*s3store.Store); !ok {
		t.Errorf("%T, want an S3 store", store)
	}
	if store, err := Open(secret("folder", "/archive"), Options{Folders: true}); err != nil {
		t.Error(err)
	} else if _, ok := store.(*filestore.Store); !ok {
		t.Errorf("%T, want a file store", store)
	}
}

func noTokens(context.Context, string, string) (string, error) { return "", errors.New("none") }

func TestInvalidStores(t *testing.T) {
	for name, test := range map[string]struct {
		secret  map[string][]byte
		options Options
		want    string
	}{
		"nothing":            {nil, Options{}, `endpoint: must be a URL of a host, such as https://s3.example.com`},
		"a folder, unasked":  {secret("folder", "/etc"), Options{}, "folder: file stores are not allowed here; name an S3 store with endpoint and bucket"},
		"a relative folder":  {secret("folder", "etc"), Options{Folders: true}, `folder: must be an absolute path`},
		"a folder and more":  {secret("folder", "/a", "bucket", "b"), Options{Folders: true}, "folder: a file store allows no other key, but ageRecipients and ageIdentity"},
		"a key unknown":      {secret("Bucket", "homes"), Options{}, "Bucket: unknown key; known keys are folder, endpoint, region, bucket, prefix, accessKeyID, secretAccessKey, sessionToken, virtualHost, checksums, ca.crt, serverSideEncryption, kmsKeyID, ageRecipients, ageIdentity, roleARN, serviceAccount, stsEndpoint"},
		"a password":         {secret("endpoint", "https://id:k%ey@s3.example.com", "bucket", "homes"), Options{}, "endpoint: must not contain a user or a password; use accessKeyID and secretAccessKey"},
		"another machine":    {secret("endpoint", "http://169.254.169.254", "bucket", "homes", "accessKeyID", "a", "secretAccessKey", "b"), Options{}, "endpoint: the manager does not call 169.254.169.254, an address of the cloud's metadata; name another store"},
		"this machine":       {secret("endpoint", "http://127.0.0.1:9000", "bucket", "homes", "accessKeyID", "a", "secretAccessKey", "b"), Options{}, "endpoint: the manager does not call 127.0.0.1, an address of the manager's own machine; on a cluster of one machine, an administrator can allow it with --archive-loopback"},
		"an odd encryption":  {secret("endpoint", "https://s3.example.com", "bucket", "homes", "accessKeyID", "a", "secretAccessKey", "b", "serverSideEncryption", "on"), Options{}, `serverSideEncryption: must be AES256 or aws:kms`},
		"a role elsewhere":   {secret("roleARN", "arn:aws:iam::1:role/r"), Options{}, "roleARN: only the manager uses it; use accessKeyID and secretAccessKey here"},
		"a role of nobody":   {secret("roleARN", "arn:aws:iam::1:role/r"), Options{Tokens: noTokens}, "roleARN: requires serviceAccount, the name of a ServiceAccount in the Secret's namespace"},
		"a role of others":   {secret("roleARN", "arn:aws:iam::1:role/r", "serviceAccount", "other/homes"), Options{Tokens: noTokens}, `serviceAccount: must be the name of a ServiceAccount in the Secret's namespace`},
		"an account alone":   {secret("serviceAccount", "homes"), Options{Tokens: noTokens}, "serviceAccount: requires roleARN"},
		"an STS alone":       {secret("stsEndpoint", "https://sts.example.com"), Options{}, "stsEndpoint: requires roleARN"},
		"no truth":           {secret("checksums", "maybe"), Options{}, `checksums: must be true or false`},
		"no truth otherwise": {secret("virtualHost", "2"), Options{}, `virtualHost: must be true or false`},
	} {
		store, err := Open(test.secret, test.options)
		if err == nil || err.Error() != test.want || store != nil {
			t.Errorf("%s: %v, %v, want %s", name, store, err, test.want)
		}
	}
}

// One store has one address, for any spelling in a Secret; two never share one, and none has credentials.
func TestAddress(t *testing.T) {
	for want, secrets := range map[string][]map[string][]byte{
		"":                            {nil, secret("bucket", "homes"), secret("endpoint", "https://s3.example.com"), secret("endpoint", "https://id:key@s3.example.com", "bucket", "b")},
		"file:///srv/homes/":          {secret("folder", "/srv/homes"), secret("folder", "/srv/homes/\n")},
		"https://s3.example.com/b/":   {secret("endpoint", "https://s3.example.com", "bucket", "b"), secret("endpoint", "https://s3.example.com/\n", "bucket", "b", "prefix", "")},
		"https://s3.example.com/b/p/": {secret("endpoint", "https://s3.example.com", "bucket", "b", "prefix", "p"), secret("endpoint", "https://s3.example.com", "bucket", "b", "prefix", "p/", "accessKeyID", "x")},
	} {
		for _, s := range secrets {
			if got := Address(s); got != want {
				t.Errorf("%q: %q, want %q", s, got, want)
			}
		}
	}
}
