// Package s3store keeps objects in a bucket of any S3 store, and issues tickets for it.
package s3store

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"kyklos.io/kyklos/internal/archive/endpoints"
)

// Config names the bucket and the credentials, which must allow GetObject, PutObject, DeleteObject, AbortMultipartUpload
// and ListBucket. Without ListBucket, S3 answers 403 for a missing object, so that a missing archive appears as a refused
// one.
type Config struct {
	// Endpoint is the store's URL without the bucket, such as https://s3.eu-central-1.amazonaws.com.
	Endpoint string
	Region   string // us-east-1 if empty, which stores without regions accept
	Bucket   string
	// Prefix precedes every name. It separates clusters that share a bucket.
	Prefix string

	AccessKeyID, SecretAccessKey string
	SessionToken                 string // of temporary credentials; tickets expire with them
	// Role replaces these three.
	Role *Role

	// VirtualHost puts the bucket into the host name instead of the path.
	VirtualHost bool
	// Checksums sends CRC32 sums with requests. Older stores may refuse them; stored data are read back and compared in
	// any case.
	Checksums bool
	// ServerSideEncryption is what the store does with every object; empty leaves it to the bucket. KMSKeyID is for SSEKMS;
	// empty is the key of the account.
	ServerSideEncryption, KMSKeyID string
	// CA holds PEM certificates that are trusted instead of the image's.
	CA []byte
	// Allowed are the endpoints that may be called; the zero value refuses this machine's own.
	Allowed endpoints.Policy
}

var (
	// bucketName is S3's rule, for the parts that URLs depend on.
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	// prefixForm needs no escaping in a URL.
	prefixForm = regexp.MustCompile(`^([A-Za-z0-9_-][A-Za-z0-9._-]*/)*$`)
)

// complete fills in defaults and validates the rest.
func (c Config) complete() (Config, error) {
	if c.Region == "" {
		c.Region = "us-east-1"
	}
	if c.Prefix != "" && !strings.HasSuffix(c.Prefix, "/") {
		c.Prefix += "/"
	}
	if err := c.bounded(); err != nil {
		return c, err
	}
	// No message has a value: somebody may have put a key into the wrong field, and messages are in statuses and events.
	endpoint, err := url.Parse(c.Endpoint)
	switch {
	case strings.Contains(c.Endpoint, "@"):
		return c, fmt.Errorf("endpoint: must not contain a user or a password; use accessKeyID and secretAccessKey")
	case err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" ||
		strings.Trim(endpoint.Path, "/") != "" || strings.ContainsAny(c.Endpoint, "?#"):
		return c, errors.New("endpoint: must be a URL of a host, such as https://s3.example.com")
	case !bucketName.MatchString(c.Bucket):
		return c, errors.New("bucket: must have 3 to 63 lowercase letters, digits, dots and hyphens")
	case !prefixForm.MatchString(c.Prefix):
		return c, errors.New("prefix: must be folders of letters, digits, dots, underscores and hyphens, such as team/cluster-1")
	}
	c.Endpoint = strings.TrimSuffix(c.Endpoint, "/")
	if err := c.checkCredentials(); err != nil {
		return c, err
	}
	return c, c.checkEncryption()
}

// bounded refuses values that are longer than any store's: they are in each URL of a ticket, and a Secret holds a megabyte. An object's
// name has up to 1024 characters, of which an archive's takes a tenth.
func (c Config) bounded() error {
	for _, each := range []struct {
		key, value string
		most       int
	}{
		{"endpoint", c.Endpoint, 512},
		{"region", c.Region, 256},
		{"prefix", c.Prefix, 900},
		{"accessKeyID", c.AccessKeyID, 1 << 10},
		{"secretAccessKey", c.SecretAccessKey, 1 << 10},
		{"sessionToken", c.SessionToken, 16 << 10},
	} {
		if len(each.value) > each.most {
			return fmt.Errorf("%s: must have at most %d characters", each.key, each.most)
		}
	}
	return nil
}
