package connect

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is wrong with a Secret, the error, which every reader of the Workspace sees, repeats none of its credentials.
func TestErrorsRepeatNoCredentials(t *testing.T) {
	others := []string{"endpoint", "region", "bucket", "prefix", "virtualHost", "checksums", "ca.crt", "folder", "unknown", "serverSideEncryption", "kmsKeyID", "roleARN", "serviceAccount", "stsEndpoint"}
	value := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "true", "homes", "https://s3.example.com", "/srv"}))
	rapid.Check(t, func(rt *rapid.T) {
		data, credentials := map[string][]byte{}, []string{}
		for _, key := range []string{"accessKeyID", "secretAccessKey", "sessionToken", "ageRecipients", "ageIdentity"} {
			if rapid.Bool().Draw(rt, "has "+key) {
				secret := rapid.StringMatching(`[A-Za-z0-9/+\n ]{12,40}`).Draw(rt, key)
				data[key], credentials = []byte(secret), append(credentials, strings.TrimSpace(secret))
			}
		}
		for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom(others), rapid.ID).Draw(rt, "keys") {
			data[key] = []byte(value.Draw(rt, key))
		}
		_, err := Open(data, Options{Folders: rapid.Bool().Draw(rt, "folders")})
		if err == nil {
			_, err = Recipients(data)
		}
		for _, secret := range credentials {
			if err != nil && len(secret) >= 8 && strings.Contains(err.Error(), secret) {
				rt.Fatalf("%v repeats %q", err, secret)
			}
		}
	})
}
